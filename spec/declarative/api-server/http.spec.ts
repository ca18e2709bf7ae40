import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { ViewServer, everywhere, group, healthView, inNamespace, version } from './view-server.js';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const merge = 'application/merge-patch+json';
const apply = 'application/apply-patch+yaml';

describe('the API server of views over HTTP', () => {
  let site: ViewServer;
  beforeEach(async () => {
    site = await ViewServer.start();
  });
  afterEach(() => site.stop());

  it('listens on the loopback interface', () => {
    expect(site.server.url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('gets and lists views in one namespace or all, by label and field selectors', async () => {
    const got = await site.ask(`${inNamespace}/a`);
    expect(got.body).to.deep.include({ apiVersion: version, kind: 'HealthView', ready: 1 });
    await site.views.client.create({
      ...healthView('c'),
      metadata: { name: 'c', namespace: 'n', labels: { x: 'y' } },
    });
    const names = async (path: string): Promise<unknown[]> =>
      (await site.ask(path)).body.items.map(({ metadata }) => metadata.name);
    expect(await names(inNamespace)).to.deep.equal(['a', 'c']);
    expect(await names(everywhere)).to.have.members(['a', 'b', 'c']);
    expect(await names(`${inNamespace}?labelSelector=x%3Dy`)).to.deep.equal(['c']);
    expect(await names(`${everywhere}?fieldSelector=metadata.name%3Db`)).to.deep.equal(['b']);
    const missing = await site.ask(`${inNamespace}/nobody`);
    expect(missing.body.message).to.equal(`healthview.${group} "nobody" not found`);
  });

  it('lets clients create, update, patch, apply and delete views', async () => {
    const created = await site.ask(inNamespace, { method: 'POST', body: healthView('z') });
    expect(created.code).to.equal(201);
    const path = `${inNamespace}/z`;
    const next = { ...created.body, ready: 2 };
    expect((await site.ask(path, { method: 'PUT', body: next })).body).to.include({ ready: 2 });
    const stale = await site.ask(path, { method: 'PUT', body: { ...next, ready: 3 } });
    expect(stale.code).to.equal(409);
    const patch = { method: 'PATCH', headers: { 'content-type': merge } } as const;
    const patched = await site.ask(path, { ...patch, body: { more: true } });
    expect(patched.body).to.include({ ready: 2, more: true });
    const applied = await site.ask(`${path}?fieldManager=me&force=true`, {
      method: 'PATCH',
      headers: { 'content-type': apply },
      body: { ...healthView('z'), ready: 4 },
    });
    expect(applied.body).to.include({ ready: 4, more: true });
    expect((await site.ask(path, { method: 'DELETE' })).code).to.equal(200);
    expect((await site.ask(path)).code).to.equal(404);
    expect((await site.ask(inNamespace, { method: 'DELETE' })).code).to.equal(200);
    expect((await site.ask(everywhere)).body.items).to.have.lengthOf(1);
  });

  it('starts a watch with the existing views and continues with changes', async () => {
    const next = await site.watch(`${everywhere}?watch=1`);
    const first = [await next()].join().split(',').sort();
    expect(first).to.deep.equal(['ADDED a', 'ADDED b']);
    await site.views.client.create(healthView('c'));
    expect(await next()).to.equal('ADDED c');
    await site.ask(`${inNamespace}/c`, { method: 'DELETE' });
    expect(await next()).to.equal('DELETED c');
  });

  it('prints lists as tables', async () => {
    await site.clock.advance(90_000);
    const { body } = await site.ask(inNamespace, { headers: { accept: table } });
    const { columnDefinitions, rows } = body as unknown as {
      readonly columnDefinitions: readonly { name: string }[];
      readonly rows: readonly { cells: unknown[] }[];
    };
    expect(columnDefinitions.map(({ name }) => name)).to.deep.equal(['Name', 'Age']);
    expect(rows.map(({ cells }) => cells)).to.deep.equal([['a', '90s']]);
  });

  it('lists in discovery only the groups and resources of views', async () => {
    const groups = (await site.ask('/apis')).body as unknown as { groups: { name: string }[] };
    expect(groups.groups.map(({ name }) => name)).to.deep.equal([group]);
    expect((await site.ask('/api')).body).to.include({ kind: 'APIVersions' });
    const { resources } = (await site.ask(`/apis/${version}`)).body as unknown as {
      readonly resources: readonly Record<string, unknown>[];
    };
    expect(resources[0]).to.deep.include({ name: 'healthview', kind: 'HealthView' });
    const all = await site.ask('/apis', { headers: { accept: aggregated } });
    expect(all.body.items.map(({ metadata }) => metadata.name)).to.deep.equal([group]);
    const core = await site.ask('/api', { headers: { accept: aggregated } });
    expect(core.body.items).to.deep.equal([]);
    for (const path of [
      '/api/v1',
      '/api/v1/namespaces',
      '/api/v1/namespaces/n/secrets',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      '/apis/apps/v1',
    ]) {
      expect((await site.ask(path)).code, path).to.equal(404);
    }
  });

  it('lists a kind of views in discovery as soon as the kind is registered', async () => {
    await site.views.ensure('other', 'Late');
    const groups = (await site.ask('/apis')).body as unknown as { groups: { name: string }[] };
    expect(groups.groups.map(({ name }) => name)).to.deep.equal([
      'other.view.dcontroller.io',
      group,
    ]);
  });

  it('describes views and the types of their fields in OpenAPI', async () => {
    const { paths } = (await site.ask('/openapi/v3')).body as unknown as { paths: object };
    expect(Object.keys(paths)).to.deep.equal([`apis/${version}`]);
    const document = (await site.ask(`/openapi/v3/apis/${version}`)).text;
    expect(document).to.contain(`/apis/${version}/namespaces/{namespace}/healthview`);
    expect((await site.ask('/openapi/v3/apis/apps/v1')).code).to.equal(404);
    const { definitions } = (await site.ask('/openapi/v2')).body as unknown as {
      readonly definitions: Readonly<Record<string, unknown>>;
    };
    const names = Object.keys(definitions);
    expect(names).to.include('io.dcontroller.view.shop.v1alpha1.HealthView');
    expect(names).to.include('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
    expect(names.filter((name) => name.startsWith('io.k8s.api.'))).to.deep.equal([]);
  });

  it('answers 403 to a request with impersonation headers', async () => {
    const headers = { 'impersonate-user': 'bob' };
    expect((await site.ask(inNamespace, { headers })).code).to.equal(403);
  });

  const sites: [string, Record<string, string>, number][] = [
    ['the host name localhost', { host: 'localhost:1' }, 200],
    ['a loopback address', { host: '[::1]:1' }, 200],
    ['a foreign host name that resolves to this machine', { host: 'evil.example' }, 403],
    ['a request from a page of another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a request from a page on another port', { 'sec-fetch-site': 'same-site' }, 403],
    ['a URL typed into a browser', { 'sec-fetch-site': 'none' }, 200],
  ];
  for (const [what, headers, code] of sites) {
    it(`answers ${code} to ${what}`, async () => {
      expect(await codeOf(`${site.server.url}${inNamespace}`, headers)).to.equal(code);
    });
  }
});

/** Sends headers that `fetch` and undici set themselves. */
function codeOf(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      { headers: { connection: 'close', ...headers } },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    request.once('error', reject);
    request.end();
  });
}
