import { expect } from 'chai';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { Api, apply, deployment, deployments, merge } from '../api.js';

const pods = '/api/v1/namespaces/default/pods';
const containers = [{ name: 'c', image: 'i' }];
const topology = {
  'topology.kubernetes.io/zone': 'z',
  'topology.kubernetes.io/region': 'r',
};

async function withNode(): Promise<Api> {
  const api = new Api();
  const labels = { ...topology, 'kubernetes.io/arch': 'amd64' };
  await api.create('/api/v1/nodes', { metadata: { name: 'n', labels } });
  return api;
}

const newPod = (api: Api, name: string): Promise<UnstructuredObject> =>
  api.create(pods, { metadata: { name, labels: { a: 'a', b: 'b' } }, spec: { containers } });

const bind = (api: Api, name: string, metadata: object = {}) =>
  api.call('POST', `${pods}/${name}/binding`, {
    metadata: { name, ...metadata },
    target: { kind: 'Node', name: 'n' },
  });

describe('bindings of pods', () => {
  it('copy their labels, and the zone and the region of the node, to the pod', async () => {
    const api = await withNode();
    await newPod(api, 'p');
    await api.call('PATCH', `${pods}/p/status`, { status: { nominatedNodeName: 'n' } }, merge);
    expect((await bind(api, 'p', { labels: { b: 'c' }, annotations: { x: 'y' } })).code).to.equal(
      201,
    );
    const { metadata, spec, status } = (await api.get(`${pods}/p`)).body;
    expect(metadata.labels).to.deep.equal({ a: 'a', b: 'c', ...topology });
    expect(metadata.annotations).to.deep.equal({ x: 'y' });
    expect(spec).to.include({ nodeName: 'n' });
    expect(status).not.to.have.property('nominatedNodeName');
  });

  it('are refused with 409 if they have the uid or resourceVersion of another pod', async () => {
    const api = await withNode();
    const { uid = '', resourceVersion = '' } = (await newPod(api, 'p')).metadata;
    for (const metadata of [{ uid: 'x' }, { resourceVersion: '1' }]) {
      const { code, body } = await bind(api, 'p', metadata);
      expect([code, body['reason']]).to.deep.equal([409, 'Conflict']);
      expect(body.message).to.match(/Precondition failed: .* in precondition: /);
    }
    expect((await bind(api, 'p', { uid, resourceVersion })).code).to.equal(201);
  });

  it('posted to /bindings neither check the uid nor copy the topology labels of the node', async () => {
    const api = await withNode();
    await newPod(api, 'p');
    const metadata = { name: 'p', uid: 'x', labels: { b: 'c' } };
    const { code } = await api.call('POST', '/api/v1/namespaces/default/bindings', {
      ...{ metadata, target: { kind: 'Node', name: 'n' } },
    });
    expect(code).to.equal(201);
    const bound = (await api.get(`${pods}/p`)).body;
    expect(bound.metadata.labels).to.deep.equal({ a: 'a', b: 'c' });
  });

  it('are not needed for the topology labels of a pod that is created with a nodeName', async () => {
    const api = await withNode();
    const spec = { containers, nodeName: 'n' };
    const { metadata } = await api.create(pods, { metadata: { name: 'p' }, spec });
    expect(metadata.labels).to.deep.equal(topology);
  });
});

describe('scales', () => {
  it('are refused if the body names another object or namespace', async () => {
    const api = new Api();
    await api.create(deployments, deployment('d'));
    const path = `${deployments}/d/scale?fieldManager=m`;
    const send = async (given: object, method: 'PUT' | 'PATCH', type?: string) => {
      const metadata = { name: 'd', ...given };
      const typed = { apiVersion: 'autoscaling/v1', kind: 'Scale' };
      const query = type === apply ? '&force=true' : '';
      return (
        await api.call(method, path + query, { ...typed, metadata, spec: { replicas: 5 } }, type)
      ).code;
    };
    for (const [method, type] of [['PUT'], ['PATCH', merge], ['PATCH', apply]] as const) {
      expect(await send({ uid: 'other' }, method, type)).to.equal(409);
      expect(await send({ name: 'other' }, method, type)).to.equal(400);
      expect(await send({ namespace: 'other' }, method, type)).to.equal(400);
    }
    expect((await api.get(`${deployments}/d`)).body['spec']).to.include({ replicas: 1 });
  });
});

describe('requests for tokens', () => {
  it('are answered 400 if a field has the wrong type', async () => {
    const api = new Api();
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await api.create(accounts, { metadata: { name: 'a' } });
    for (const spec of [{ expirationSeconds: '600' }, { audiences: 'x' }, 'x']) {
      const { code, body } = await api.call('POST', `${accounts}/a/token`, { spec });
      expect([code, body.message]).to.deep.equal([
        400,
        body.message.replace(
          /^.*?json: /,
          'TokenRequest in version "v1" cannot be handled as a TokenRequest: json: ',
        ),
      ]);
    }
    expect((await api.call('POST', `${accounts}/a/token`, { spec: {} })).code).to.equal(201);
  });
});
