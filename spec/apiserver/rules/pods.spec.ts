import { expect } from 'chai';
import { Api, deployment, deployments, merge, strategic } from '../api.js';
import type { Answer } from '../api.js';
import { causeFields, causeMessages } from '../causes.js';

const pods = '/api/v1/namespaces/default/pods';

const container = { name: 'c', image: 'nginx:1.27' };

function pod(spec: object = {}): object {
  return { metadata: { name: 'a' }, spec: { containers: [container], ...spec } };
}

describe('pods', () => {
  it('receive host ports for hostNetwork, but pod templates do not', async () => {
    const api = new Api();
    const containers = [{ ...container, ports: [{ containerPort: 80 }] }];
    const spec = { containers, hostNetwork: true };
    const created = await api.create(pods, pod(spec));
    expect(created).to.have.nested.property('spec.containers[0].ports[0].hostPort', 80);
    const template = { metadata: { labels: { app: 'web' } }, spec };
    const owner = await api.create(deployments, deployment('web', { template }));
    const port = 'spec.template.spec.containers[0].ports[0]';
    expect(owner).to.have.deep.nested.property(port, { containerPort: 80, protocol: 'TCP' });
  });

  it('are refused with the name of the container list whose length an update changes', async () => {
    const api = new Api();
    const initContainers = [{ ...container, name: 'i' }];
    await api.create(pods, pod({ initContainers }));
    const more = [...initContainers, { ...container, name: 'j' }];
    const answer = await api.call('PATCH', `${pods}/a`, { spec: { initContainers: more } }, merge);
    expect(causeFields(answer)).to.deep.equal(['spec.initContainers']);
  });

  it('accept a change of an image, and refuse a change of hostNetwork', async () => {
    const api = new Api();
    await api.create(pods, pod());
    const image = { spec: { containers: [{ ...container, image: 'nginx:1.28' }] } };
    expect((await api.call('PATCH', `${pods}/a`, image, merge)).code).to.equal(200);
    const host = { spec: { hostNetwork: true } };
    const answer = await api.call('PATCH', `${pods}/a`, host, merge);
    expect(causeMessages(answer)['spec']).to.match(/^Forbidden: pod updates may not change fields/);
  });

  describe('of a RuntimeClass', () => {
    const selector = { runtime: 'kata' };
    const sandboxed = { key: 'sandbox', operator: 'Exists', effect: 'NoSchedule' };
    const runtimeClassName = 'kata';

    async function withClass(fields: object): Promise<Api> {
      const api = new Api();
      const runtime = { metadata: { name: runtimeClassName }, handler: 'kata', ...fields };
      await api.create('/apis/node.k8s.io/v1/runtimeclasses', runtime);
      return api;
    }

    it('get its overhead, its node selector and its tolerations', async () => {
      const overhead = { podFixed: { cpu: '250m' } };
      const scheduling = { nodeSelector: selector, tolerations: [sandboxed] };
      const api = await withClass({ overhead, scheduling });
      const nodeSelector = { disk: 'ssd' };
      const tolerations = [{ ...sandboxed, operator: 'Equal', value: 'x' }];
      const spec = { runtimeClassName, overhead: {}, nodeSelector, tolerations };
      const created = await api.create(pods, pod(spec));
      expect(created['spec']).to.deep.include({
        overhead: { cpu: '250m' },
        nodeSelector: { disk: 'ssd', runtime: 'kata' },
        tolerations: [
          ...['not-ready', 'unreachable'].map((state) => ({
            ...{ key: `node.kubernetes.io/${state}`, operator: 'Exists', effect: 'NoExecute' },
            tolerationSeconds: 300,
          })),
          sandboxed,
        ],
      });
    });

    it('receive no toleration of the class that differs from their own only by the explicit operator Equal', async () => {
      const effect = 'NoExecute';
      const given = { key: 'sandbox', value: 'x', effect };
      const equal = { ...given, operator: 'Equal' };
      const added = async (own: object, ofClass: object): Promise<unknown[]> => {
        const api = await withClass({ scheduling: { tolerations: [ofClass] } });
        const { spec } = await api.create(pods, pod({ runtimeClassName, tolerations: [own] }));
        return (spec as { tolerations: unknown[] }).tolerations.slice(0, -2);
      };
      // As on a real server, the toleration without an operator covers the one with an operator.
      expect(await added(given, equal)).to.deep.equal([given]);
      expect(await added(given, given)).to.deep.equal([given]);
    });

    it('may set an overhead that equals the overhead of the class', async () => {
      const api = await withClass({ overhead: { podFixed: { cpu: '1' } } });
      const answer = await api.call(
        ...(['POST', pods, pod({ runtimeClassName, overhead: { cpu: '1000m' } })] as const),
      );
      expect(answer.code).to.equal(201);
    });

    for (const [title, spec, message] of [
      [
        'overhead',
        { overhead: { cpu: '2' } },
        "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
      ],
      [
        'node selector',
        { nodeSelector: { runtime: 'runc' } },
        'conflict: runtimeClass.scheduling.nodeSelector[runtime] = kata; pod.spec.nodeSelector[runtime] = runc',
      ],
    ] as const) {
      it(`are refused with another ${title}`, async () => {
        const overhead = { podFixed: { cpu: '1' } };
        const api = await withClass({ overhead, scheduling: { nodeSelector: selector } });
        const answer = await api.call('POST', pods, pod({ runtimeClassName, ...spec }));
        expect([answer.code, answer.body.message]).to.deep.equal([
          403,
          `pods "a" is forbidden: ${message}`,
        ]);
      });
    }
  });

  it('require values of labels in a required node affinity, but not in a preferred one', async () => {
    const api = new Api();
    const preference = { matchExpressions: [{ key: 'a', operator: 'In', values: ['b', '-'] }] };
    const required = { nodeSelectorTerms: [preference] };
    const made = (nodeAffinity: object) =>
      api.call('POST', pods, pod({ affinity: { nodeAffinity } }));
    const field = 'requiredDuringSchedulingIgnoredDuringExecution';
    const messages = causeMessages(await made({ [field]: required }));
    expect(Object.keys(messages)).to.deep.equal([
      `spec.affinity.nodeAffinity.${field}.nodeSelectorTerms[0].matchExpressions[0].values[1]`,
    ]);
    expect(Object.values(messages)[0]).to.match(/^Invalid value: "-": a valid label must be/);
    const preferredDuringSchedulingIgnoredDuringExecution = [{ weight: 1, preference }];
    expect((await made({ preferredDuringSchedulingIgnoredDuringExecution })).code).to.equal(201);
  });

  it('have the QoS class that follows from their resources', async () => {
    const api = new Api();
    const resources = { limits: { cpu: '1', memory: '1Gi' } };
    const created = await api.create(pods, pod({ containers: [{ ...container, resources }] }));
    expect(created).to.deep.include({ status: { phase: 'Pending', qosClass: 'Guaranteed' } });
  });

  for (const name of ['constructor', '__proto__']) {
    it(`are refused if they or a container request the unknown resource ${name}`, async () => {
      const resources = { requests: JSON.parse(`{"${name}":"1"}`) as object };
      const init = { ...container, name: 'i', resources };
      const spec = { resources, containers: [{ ...container, resources }], initContainers: [init] };
      const answer = await new Api().call('POST', pods, pod(spec));
      expect(answer.code).to.equal(422);
      expect(causeFields(answer)).to.include.members([
        `spec.resources.requests[${name}]`,
        `spec.containers[0].resources.requests[${name}]`,
        `spec.initContainers[0].resources.requests[${name}]`,
      ]);
    });
  }

  it('keep status.qosClass after a status update without it', async () => {
    const api = new Api();
    await api.create(pods, pod());
    const named = { metadata: { name: 'a' }, status: { phase: 'Succeeded' } };
    const { body } = await api.call('PUT', `${pods}/a/status`, named);
    expect(body['status']).to.deep.equal({ phase: 'Succeeded', qosClass: 'BestEffort' });
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    expect((await api.get(pods, { accept })).body)
      .to.have.nested.property('rows[0].conditions[0].message')
      .that.equals('The pod has completed successfully.');
  });

  it('cannot be bound to a node twice', async () => {
    const api = new Api();
    await api.create(pods, pod());
    const bind = (name: string): object => ({
      metadata: { name: 'a' },
      target: { kind: 'Node', name },
    });
    expect((await api.call('POST', `${pods}/a/binding`, bind('n'))).code).to.equal(201);
    expect((await api.get(`${pods}/a`)).body).to.have.nested.property('spec.nodeName', 'n');
    expect((await api.call('POST', `${pods}/a/binding`, bind('m'))).code).to.equal(409);
  });
});

describe('pods with and without a projected token', () => {
  const token = (name?: string): object => ({
    ...{ containers: [container], ...(name !== undefined && { serviceAccountName: name }) },
    volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
  });

  it('with a token run as the service account default, unless they name another account', async () => {
    const api = new Api();
    const { spec } = (await api.create(pods, pod(token()))) as { spec?: object };
    const account = { serviceAccountName: 'default', serviceAccount: 'default' };
    expect(spec).to.deep.include(account);
    const named = { metadata: { name: 'b' }, spec: token('own') };
    const own = { serviceAccountName: 'own', serviceAccount: 'own' };
    expect((await api.create(pods, named))['spec']).to.deep.include(own);
  });

  it('with a token are refused if an update removes their service account', async () => {
    const api = new Api();
    const { spec } = (await api.create(pods, pod(token()))) as { spec?: object };
    expect((await api.call('PUT', `${pods}/a`, pod(spec))).code).to.equal(200);
    const nameless = { ...spec, serviceAccountName: null, serviceAccount: null };
    const answer = await api.call('PUT', `${pods}/a`, pod(nameless));
    const field = 'spec.volumes[0].projected.sources[0].serviceAccountToken';
    expect(causeMessages(answer)[field]).to.match(/when serviceAccountName is not set$/);
  });

  it('without a token do not receive the service account default', async () => {
    const created = await new Api().create(pods, pod());
    expect(created['spec']).not.to.have.any.keys('serviceAccountName', 'serviceAccount');
  });
});

describe('pods with projected files', () => {
  it('are refused if two sources have the same path', async () => {
    const items = [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }];
    const sources = [
      { secret: { name: 's', items: [{ key: 'k', path: 'a' }] } },
      { downwardAPI: { items } },
    ];
    const volumes = [{ name: 'v', projected: { sources } }];
    const spec = { containers: [container], volumes };
    const answer = await new Api().call('POST', pods, pod(spec));
    expect(causeMessages(answer)).to.deep.equal({
      'spec.volumes[0].projected': 'Invalid value: "a": conflicting duplicate paths',
    });
  });
});

describe('pods with scheduling gates', () => {
  const gate = (name: string): object => ({ name: `example.com/${name}` });
  const gates = { schedulingGates: [gate('a'), gate('b')] };
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const terms = `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms`;

  /** A node affinity with a term for each list of labels. */
  function affinity(...lists: readonly (readonly string[])[]): object {
    const nodeSelectorTerms = lists.map((labels) => ({
      matchExpressions: labels.map((key) => ({ key, operator: 'Exists' })),
    }));
    return { affinity: { nodeAffinity: { [required]: { nodeSelectorTerms } } } };
  }

  async function patched(before: object, change: object): Promise<Answer> {
    const api = new Api();
    await api.create(pods, pod(before));
    return api.call('PATCH', `${pods}/a`, { spec: change }, merge);
  }

  it('show in their status why they are not scheduled', async () => {
    const { status } = (await new Api().create(pods, pod(gates))) as { status?: object };
    expect(status).to.have.nested.property('conditions[0].reason', 'SchedulingGated');
    expect(status).to.have.nested.property('conditions[0].status', 'False');
  });

  const allowed: [string, object, object][] = [
    ['a node selector', gates, { nodeSelector: { disk: 'ssd' } }],
    [
      'more of a node selector',
      { ...gates, nodeSelector: { a: 'b' } },
      { nodeSelector: { c: 'd' } },
    ],
    ['a node affinity', gates, affinity(['a'], ['b'])],
    [
      'a narrower node affinity',
      { ...gates, ...affinity(['a'], ['b']) },
      affinity(['a', 'c'], ['b']),
    ],
    ['fewer gates', gates, { schedulingGates: [gate('b')] }],
    ['no gates', gates, { schedulingGates: null }],
  ];
  for (const [title, before, change] of allowed) {
    it(`accept ${title}`, async () => {
      expect((await patched(before, change)).code).to.equal(200);
    });
  }

  const refused: [string, object, object, string][] = [
    [
      'another gate',
      gates,
      { schedulingGates: [gate('a'), gate('c')] },
      'spec.schedulingGates[1].name',
    ],
    [
      'a scheduling gate in a Pod without gates',
      {},
      { schedulingGates: [gate('a')] },
      'spec.schedulingGates[0].name',
    ],
    [
      'another value of the node selector',
      { ...gates, nodeSelector: { disk: 'ssd' } },
      { nodeSelector: { disk: 'hdd' } },
      'spec.nodeSelector',
    ],
    ['a node selector without gates', {}, { nodeSelector: { disk: 'ssd' } }, 'spec'],
    ['a node affinity without gates', {}, affinity(['a']), 'spec'],
    [
      'a wider node affinity',
      { ...gates, ...affinity(['a', 'b']) },
      affinity(['a']),
      `${terms}[0]`,
    ],
    [
      'more terms of a node affinity',
      { ...gates, ...affinity(['a']) },
      affinity(['a'], ['b']),
      terms,
    ],
    ['a removal of the node affinity', { ...gates, ...affinity(['a']) }, { affinity: null }, terms],
    ['another affinity', gates, { affinity: { podAffinity: {} } }, 'spec'],
    ['another host name', gates, { nodeSelector: { disk: 'ssd' }, hostname: 'x' }, 'spec'],
  ];
  for (const [title, before, change, field] of refused) {
    it(`refuse ${title}`, async () => {
      expect(causeFields(await patched(before, change))).to.deep.equal([field]);
    });
  }
});

describe('resizes of pods', () => {
  const resources = { requests: { cpu: '100m', memory: '100Mi' } };
  const resized = async (change: object): Promise<Answer> => {
    const api = new Api();
    await api.create(pods, pod({ containers: [{ ...container, resources }] }));
    const spec = { containers: [{ name: 'c', ...change }] };
    return api.call('PATCH', `${pods}/a/resize`, { spec }, strategic);
  };

  it('change CPU and memory', async () => {
    const { body } = await resized({ resources: { requests: { cpu: '200m' } } });
    const requests = { cpu: '200m', memory: '100Mi' };
    expect(body)
      .to.have.nested.property('spec.containers[0].resources')
      .that.deep.equals({ requests });
    expect(body.metadata.generation).to.equal(2);
  });

  it('ignore other fields', async () => {
    const { body } = await resized({ image: 'nginx:1.28' });
    expect(body).to.have.nested.property('spec.containers[0].image', container.image);
  });

  const requests = 'spec.containers[0].resources.requests';
  const refused: [string, object, string[]][] = [
    ['other resources', { resources: { requests: { 'ephemeral-storage': '1Gi' } } }, ['spec']],
    [
      'the quality of service class of a pod',
      { resources: { limits: resources.requests } },
      ['spec'],
    ],
    ['fewer resources', { resources: { requests: { cpu: null } } }, [requests]],
    ['more containers', { name: 'd', image: 'x' }, ['spec.containers']],
  ];
  for (const [title, change, fields] of refused) {
    it(`refuse to change ${title}`, async () => {
      expect(causeFields(await resized(change))).to.deep.equal(fields);
    });
  }
});
