import { expect } from 'chai';
import { Api } from '../api.js';
import { crds, installed } from '../custom/widgets.js';

const aggregated = {
  accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
};

interface Groups {
  items: { metadata: { name?: string }; versions: { version: string; resources: Resource[] }[] }[];
}

interface Resource {
  resource: string;
  scope: string;
  verbs: string[];
  shortNames?: string[];
  subresources?: { subresource: string; verbs: string[] }[];
}

describe('discovery', () => {
  it('lists groups and resources for old clients', async () => {
    const api = new Api();
    expect((await api.get('/api')).body).to.deep.include({ kind: 'APIVersions', versions: ['v1'] });
    const { body: groups } = await api.get('/apis');
    const { groups: all } = groups as unknown as { groups: { name: string }[] };
    expect(all.map(({ name }) => name)).to.include.members([
      'apps',
      'batch',
      'apiextensions.k8s.io',
    ]);
    const { body: core } = await api.get('/api/v1');
    const { resources } = core as unknown as { resources: Record<string, unknown>[] };
    expect(resources.find(({ name }) => name === 'pods')).to.deep.include({
      kind: 'Pod',
      namespaced: true,
      shortNames: ['po'],
    });
    expect(resources.find(({ name }) => name === 'pods/eviction')).to.deep.include({
      kind: 'Eviction',
      group: 'policy',
      version: 'v1',
    });
  });

  it('lists everything at once for new clients, including custom kinds', async () => {
    const api = new Api();
    await installed(api);
    const { body, headers } = await api.get('/apis', aggregated);
    expect(headers['content-type']).to.contain('as=APIGroupDiscoveryList');
    const { items } = body as unknown as Groups;
    const group = items.find(({ metadata }) => metadata.name === 'example.com');
    expect(group?.versions[0]?.resources[0]).to.deep.include({
      resource: 'widgets',
      scope: 'Namespaced',
      shortNames: ['wd'],
    });
    // The client prefers protobuf, in which the embedded server has no discovery.
    const protobuf = aggregated.accept.replace('json', 'vnd.kubernetes.protobuf');
    const accept = `${protobuf},${aggregated.accept},application/json`;
    const { body: core } = await api.get('/api', { accept });
    const [{ versions } = { versions: [] }] = (core as unknown as Groups).items;
    expect(versions[0]?.resources.length).to.be.greaterThan(15);
  });

  it('omits a kind after its CRD is deleted', async () => {
    const api = new Api();
    await installed(api);
    expect((await api.get('/apis/example.com/v1')).code).to.equal(200);
    await api.call('DELETE', `${crds}/widgets.example.com`);
    expect((await api.get('/apis/example.com/v1')).code).to.equal(404);
    expect((await api.get('/apis', aggregated)).text).not.to.contain('example.com');
  });

  it('serves every verb it lists', async () => {
    const api = new Api();
    for (const root of ['/api', '/apis']) {
      const { items } = (await api.get(root, aggregated)).body as unknown as Groups;
      for (const { metadata, versions } of items) {
        for (const { version, resources } of versions) {
          const base =
            metadata.name === undefined ? `/api/${version}` : `/apis/${metadata.name}/${version}`;
          for (const { resource, verbs, scope } of resources) {
            const answer = await api.get(`${base}/${resource}`);
            const refused = scope === 'Namespaced' ? 404 : 405;
            const code = verbs.includes('list') ? 200 : refused;
            expect([resource, answer.code]).to.deep.equal([resource, code]);
          }
        }
      }
    }
  });

  it('does not find paths of custom groups that are not served', async () => {
    const api = new Api();
    await installed(api);
    const group = '/apis/example.com';
    const unserved = ['/v9', '/v9/widgets', '/v1/nothing', '/v1/widgets/a'];
    for (const path of unserved) {
      const { code, text } = await api.get(group + path);
      expect([code, text], path).to.deep.equal([404, '404 page not found\n']);
    }
    const { body } = await api.get('/apis/apps/v9/deployments');
    expect(body.message).to.equal('the server could not find the requested resource');
    const other = await api.get(`${group}/v1/namespaces/default/widgets/a/nothing`);
    expect(other.body.message).to.equal('widgets.example.com "a" not found');
  });

  it('reports version and health', async () => {
    const api = new Api();
    expect((await api.get('/version')).body).to.include({ major: '1' });
    expect((await api.get('/healthz/none')).code).to.equal(404);
    for (const path of ['/healthz', '/readyz', '/livez']) {
      expect(await api.get(path)).to.include({ code: 200, text: 'ok' });
    }
    expect((await api.get('/nothing')).code).to.equal(404);
  });
});
