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

  it('are refused with 409 if the pod has a node, is gated, or is being deleted', async () => {
    const api = await withNode();
    const gates = { schedulingGates: [{ name: 'example.com/wait' }] };
    const graceful = { metadata: { name: 'gone', finalizers: ['a/b'] }, spec: { containers } };
    await api.create(pods, graceful);
    await api.call('DELETE', `${pods}/gone`);
    await api.create(pods, { metadata: { name: 'gated' }, spec: { containers, ...gates } });
    await api.create(pods, { metadata: { name: 'placed' }, spec: { containers, nodeName: 'n' } });
    const messages = [];
    for (const name of ['gone', 'gated', 'placed']) {
      const { code, body } = await bind(api, name);
      messages.push([code, body.message]);
    }
    const refused = (name: string, why: string) => [
      409,
      `Operation cannot be fulfilled on pods/binding "${name}": pod ${name} ${why}`,
    ];
    expect(messages).to.deep.equal([
      refused('gone', 'is being deleted, cannot be assigned to a host'),
      refused('gated', 'has non-empty .spec.schedulingGates'),
      refused('placed', 'is already assigned to node "n"'),
    ]);
  });

  it('that are posted to /bindings do not check the uid, and do not copy the topology labels of the node', async () => {
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

describe('writes of the subresource scale', () => {
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

describe('requests for tokens of ServiceAccounts', () => {
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  const ask = (api: Api, spec: unknown, metadata?: object) =>
    api.call('POST', `${accounts}/a/token`, { spec, ...(metadata && { metadata }) });

  async function withAccount(): Promise<Api> {
    const api = await withNode();
    await api.create(accounts, { metadata: { name: 'a' } });
    return api;
  }

  const unhandled = 'TokenRequest in version "v1" cannot be handled as a TokenRequest: json: ';
  const into = (type: string, field: string) => `Go struct field ${field} of type ${type}`;
  const types: readonly (readonly [spec: unknown, message: string])[] = [
    [
      { expirationSeconds: '600' },
      `cannot unmarshal string into ${into('int64', 'TokenRequestSpec.spec.expirationSeconds')}`,
    ],
    [
      { audiences: 'x' },
      `cannot unmarshal string into ${into('[]string', 'TokenRequestSpec.spec.audiences')}`,
    ],
    ['x', `cannot unmarshal string into ${into('v1.TokenRequestSpec', 'TokenRequest.spec')}`],
  ];
  for (const [spec, message] of types) {
    it(`are answered 400 for the spec ${JSON.stringify(spec)}`, async () => {
      const { code, body } = await ask(await withAccount(), spec);
      expect([code, body.message]).to.deep.equal([400, unhandled + message]);
    });
  }

  const bound = (reference: object) => ({ boundObjectRef: { apiVersion: 'v1', ...reference } });
  const invalid = (name: string, why: string) =>
    `TokenRequest.authentication.k8s.io "${name}" is invalid: ${why}`;
  const conflict = (what: string, why: string) =>
    `Operation cannot be fulfilled on ${what}: ${why}`;
  const seconds = (value: number, why: string) =>
    invalid(
      '',
      `spec.expirationSeconds: Invalid value: ${value}: may not specify a duration ${why}`,
    );
  const cases: readonly (readonly [
    spec: object,
    metadata: object,
    code: number,
    message: string | undefined,
  ])[] = [
    [{ expirationSeconds: 600 }, { name: '', namespace: '', uid: '' }, 201, undefined],
    [{ expirationSeconds: 599 }, {}, 422, seconds(599, 'less than 10 minutes')],
    [{ expirationSeconds: 2 ** 32 }, {}, 201, undefined],
    [{ expirationSeconds: 2 ** 32 + 1 }, {}, 422, seconds(2 ** 32 + 1, 'larger than 2^32 seconds')],
    [
      ...([{}, { name: 'b' }, 422] as const),
      invalid(
        'a',
        'metadata.name: Invalid value: "b": must match the service account name if specified',
      ),
    ],
    [
      ...([{}, { uid: 'other' }, 409] as const),
      conflict(
        'TokenRequest.authentication.k8s.io "a"',
        'the UID in the token request (other) does not match the UID of the service account (UID)',
      ),
    ],
    [
      ...([bound({ kind: 'ConfigMap', name: 'c' }), {}, 400] as const),
      'cannot bind token to object of type /v1, Kind=ConfigMap',
    ],
    [
      ...([bound({ apiVersion: 'apps/v1', kind: 'Pod', name: 'c' }), {}, 400] as const),
      'cannot bind token to object of type apps/v1, Kind=Pod',
    ],
    [bound({ kind: 'Secret', name: 'c' }), {}, 404, 'secrets "c" not found'],
    [bound({ kind: 'Node', name: 'c' }), {}, 404, 'nodes "c" not found'],
    [bound({ kind: 'Node', name: 'n' }), {}, 201, undefined],
    [bound({ kind: 'Pod', name: 'own' }), {}, 201, undefined],
    [
      ...([bound({ kind: 'Pod', name: 'other' }), {}, 400] as const),
      'cannot bind token for serviceaccount "a" to pod running with different serviceaccount name.',
    ],
    [
      ...([bound({ kind: 'Pod', name: 'own', uid: 'x' }), {}, 409] as const),
      conflict(
        'Pod "own"',
        'the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
      ),
    ],
  ];
  for (const [spec, metadata, code, message] of cases) {
    it(`are answered ${code} for ${JSON.stringify({ spec, metadata })}`, async () => {
      const api = await withAccount();
      for (const [name, serviceAccountName] of [
        ['own', 'a'],
        ['other', 'default'],
      ] as const) {
        await api.create(pods, { metadata: { name }, spec: { containers, serviceAccountName } });
      }
      const answer = await ask(api, spec, metadata);
      const said = (answer.body.message as string | undefined)?.replace(
        /\([0-9a-f-]{36}\)/,
        '(UID)',
      );
      expect([answer.code, said]).to.deep.equal([code, message]);
    });
  }
});
