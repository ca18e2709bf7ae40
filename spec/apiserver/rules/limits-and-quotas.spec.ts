import { expect } from 'chai';
import { Api, configMap, configMaps, merge } from '../api.js';
import type { Answer } from '../api.js';

const path = (plural: string): string => `/api/v1/namespaces/default/${plural}`;

const pod = (name: string, resources: object = {}): object => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources }] },
});

/** A Pod with a container and a sidecar of the same resources. */
const withSidecar = (name: string, resources: object): object => ({
  metadata: { name },
  spec: {
    initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always', resources }],
    containers: [{ name: 'c', image: 'i', resources }],
  },
});

/** A Pod with resources for the whole Pod, which its containers share. */
const sharing = (name: string, resources: object): object => ({
  metadata: { name },
  spec: { resources, containers: [{ name: 'c', image: 'i' }] },
});

/** Returns the reason of a refusal: the text after `… is forbidden: `. */
const why = (message: string): string => message.replace(/^.* is forbidden: /, '');

async function withLimits(limits: object): Promise<Api> {
  const api = new Api();
  await api.create(path('limitranges'), { metadata: { name: 'l' }, spec: { limits: [limits] } });
  return api;
}

async function withQuota(hard: object, more: object = {}): Promise<Api> {
  const api = new Api();
  await api.create(path('resourcequotas'), { metadata: { name: 'q' }, spec: { hard, ...more } });
  return api;
}

/** Creates a claim of 1Gi that can grow. @returns a function that requests another size */
async function withClaim(api: Api): Promise<(storage: string) => Promise<Answer>> {
  const [storageClassName, claims] = ['growing', path('persistentvolumeclaims')];
  await api.create('/apis/storage.k8s.io/v1/storageclasses', {
    ...{ metadata: { name: storageClassName }, provisioner: 'a/b', allowVolumeExpansion: true },
  });
  const sized = (storage: string) => ({ resources: { requests: { storage } } });
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName, ...sized('1Gi') };
  await api.create(claims, { metadata: { name: 'c' }, spec });
  await api.call('PATCH', `${claims}/c/status`, { status: { phase: 'Bound' } }, merge);
  return (storage) => api.call('PATCH', `${claims}/c`, { spec: sized(storage) }, merge);
}

describe('LimitRanges', () => {
  it('set the default requests and limits of containers that have none', async () => {
    const defaults = { default: { cpu: '500m' }, defaultRequest: { cpu: '100m', memory: '1Mi' } };
    const api = await withLimits({ type: 'Container', ...defaults });
    const { body } = await api.call('POST', path('pods'), pod('a', { requests: { cpu: '200m' } }));
    const { containers } = body['spec'] as { containers: { resources: object }[] };
    expect(containers[0]?.resources).to.deep.equal({
      limits: { cpu: '500m' },
      requests: { cpu: '200m', memory: '1Mi' },
    });
    expect(body.metadata.annotations).to.deep.equal({
      'kubernetes.io/limit-ranger':
        'LimitRanger plugin set: memory request for container c; cpu limit for container c',
    });
  });

  it('refuse containers outside the minimum and the maximum', async () => {
    const api = await withLimits({ type: 'Container', min: { cpu: '100m' }, max: { cpu: '1' } });
    const refused = async (limits: object, requests: object): Promise<string> => {
      const { code, body } = await api.call('POST', path('pods'), pod('a', { limits, requests }));
      expect(code).to.equal(403);
      return why(body.message);
    };
    expect(await refused({ cpu: '2' }, { cpu: '1' })).to.equal(
      'maximum cpu usage per Container is 1, but limit is 2',
    );
    expect(await refused({ cpu: '1' }, { cpu: '50m' })).to.equal(
      'minimum cpu usage per Container is 100m, but request is 50m',
    );
  });

  it('refuse Pods whose containers exceed a limit in total', async () => {
    const api = await withLimits({ type: 'Pod', max: { memory: '1Gi' } });
    const resources = { limits: { memory: '600Mi' } };
    const one = { image: 'i', resources };
    const spec = {
      containers: [
        { name: 'a', ...one },
        { name: 'b', ...one },
      ],
    };
    const { body } = await api.call('POST', path('pods'), { metadata: { name: 'a' }, spec });
    expect(why(body.message)).to.equal('maximum memory usage per Pod is 1Gi, but limit is 1200Mi');
  });

  it('count sidecars beside the containers of a Pod', async () => {
    const api = await withLimits({ type: 'Pod', max: { memory: '1Gi' } });
    const given = withSidecar('a', { limits: { memory: '600Mi' } });
    const { body } = await api.call('POST', path('pods'), given);
    expect(why(body.message)).to.equal('maximum memory usage per Pod is 1Gi, but limit is 1200Mi');
  });

  it('check the resources of a whole Pod against the limits of the type Pod', async () => {
    const api = await withLimits({ type: 'Pod', max: { memory: '1Gi' } });
    const { body } = await api.call(
      'POST',
      path('pods'),
      sharing('a', { limits: { memory: '2Gi' } }),
    );
    expect(why(body.message)).to.equal('maximum memory usage per Pod is 1Gi, but limit is 2Gi');
  });

  it('accept a limit of 0 in an init container if the containers have no limit', async () => {
    const api = await withLimits({ type: 'Pod', max: { cpu: '1' } });
    const initContainers = [{ name: 'i', image: 'i', resources: { limits: { cpu: '0' } } }];
    const containers = [{ name: 'c', image: 'i' }];
    const given = { metadata: { name: 'a' }, spec: { initContainers, containers } };
    expect((await api.call('POST', path('pods'), given)).code).to.equal(201);
  });

  it('refuse claims that are too large', async () => {
    const api = await withLimits({ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } });
    const resources = { requests: { storage: '2Gi' } };
    const claim = { metadata: { name: 'c' }, spec: { accessModes: ['ReadWriteOnce'], resources } };
    const { body } = await api.call('POST', path('persistentvolumeclaims'), claim);
    expect(why(body.message)).to.equal(
      'maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
    );
  });

  it('refuse updates of claims to sizes that are too large', async () => {
    const api = await withLimits({ type: 'PersistentVolumeClaim', max: { storage: '2Gi' } });
    const grown = await withClaim(api);
    expect((await grown('2Gi')).code).to.equal(200);
    expect(why((await grown('3Gi')).body.message)).to.equal(
      'maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi',
    );
  });
});

describe('ResourceQuotas', () => {
  it('refuse objects beyond the allowed number until one is deleted', async () => {
    const api = await withQuota({ configmaps: '1', 'count/configmaps': '5' });
    await api.create(configMaps, configMap('a'));
    const { code, body } = await api.call('POST', configMaps, configMap('b'));
    expect(code).to.equal(403);
    expect(why(body.message)).to.equal(
      'exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1',
    );
    await api.call('DELETE', `${configMaps}/a`);
    expect((await api.call('POST', configMaps, configMap('b'))).code).to.equal(201);
  });

  it('refuse Pods whose requests exceed what is left of the quota, and do not count finished Pods', async () => {
    const api = await withQuota({ 'requests.cpu': '1' });
    await api.create(path('pods'), pod('a', { requests: { cpu: '700m' } }));
    const second = pod('b', { requests: { cpu: '400m' } });
    const { body } = await api.call('POST', path('pods'), second);
    expect(why(body.message)).to.equal(
      'exceeded quota: q, requested: requests.cpu=400m, used: requests.cpu=700m, limited: requests.cpu=1',
    );
    await api.call('PATCH', `${path('pods')}/a/status`, { status: { phase: 'Succeeded' } }, merge);
    expect((await api.call('POST', path('pods'), second)).code).to.equal(201);
  });

  it('accept changes that do not increase the use of an exceeded resource', async () => {
    const api = new Api();
    await api.create(path('pods'), pod('a', { requests: { cpu: '2', memory: '1Mi' } }));
    const hard = { 'requests.cpu': '1' };
    await api.create(path('resourcequotas'), { metadata: { name: 'q' }, spec: { hard } });
    const resized = async (cpu: string): Promise<number> => {
      const spec = { containers: [{ name: 'c', resources: { requests: { cpu } } }] };
      const strategic = 'application/strategic-merge-patch+json';
      return (await api.call('PATCH', `${path('pods')}/a/resize`, { spec }, strategic)).code;
    };
    expect(await resized('3')).to.equal(403);
    expect(await resized('1500m')).to.equal(200);
    const none = pod('b', { requests: { cpu: '0' } });
    expect((await api.call('POST', path('pods'), none)).code).to.equal(201);
  });

  it('count the increase of usage by an update of a claim or a Service', async () => {
    const api = await withQuota({ 'requests.storage': '2Gi', 'services.loadbalancers': '0' });
    const grown = await withClaim(api);
    expect((await grown('2Gi')).code).to.equal(200);
    expect(why((await grown('3Gi')).body.message)).to.equal(
      'exceeded quota: q, requested: requests.storage=1Gi, used: requests.storage=2Gi, limited: requests.storage=2Gi',
    );
    const spec = { ports: [{ port: 80 }] };
    await api.create(path('services'), { metadata: { name: 's' }, spec });
    const change = { spec: { type: 'LoadBalancer' } };
    const { body } = await api.call('PATCH', `${path('services')}/s`, change, merge);
    expect(why(body.message)).to.match(/^exceeded quota: q, requested: services.loadbalancers=1/);
  });

  it('count the Services of a type that exist already', async () => {
    const api = await withQuota({ 'services.loadbalancers': '1' });
    const service = (name: string): object => ({
      metadata: { name },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
    });
    await api.create(path('services'), service('a'));
    const { body } = await api.call('POST', path('services'), service('b'));
    expect(why(body.message)).to.equal(
      'exceeded quota: q, requested: services.loadbalancers=1, used: services.loadbalancers=1, limited: services.loadbalancers=1',
    );
  });

  it('count sidecars, and the resources of whole Pods', async () => {
    const api = await withQuota({ 'requests.cpu': '1' });
    const exceeded = async (given: object): Promise<string> => {
      const { code, body } = await api.call('POST', path('pods'), given);
      expect(code).to.equal(403);
      return why(body.message);
    };
    expect(await exceeded(withSidecar('a', { requests: { cpu: '600m' } }))).to.equal(
      'exceeded quota: q, requested: requests.cpu=1200m, used: requests.cpu=0, limited: requests.cpu=1',
    );
    expect(await exceeded(sharing('a', { requests: { cpu: '2' } }))).to.equal(
      'exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=0, limited: requests.cpu=1',
    );
  });

  it('count the overhead of Pods', async () => {
    const api = await withQuota({ 'requests.cpu': '1', 'limits.cpu': '1' });
    const overhead = { podFixed: { cpu: '500m' } };
    const runtime = { metadata: { name: 'r' }, handler: 'r', overhead };
    await api.create('/apis/node.k8s.io/v1/runtimeclasses', runtime);
    const amounts = { cpu: '600m' };
    const resources = { requests: amounts, limits: amounts };
    const containers = [{ name: 'c', image: 'i', resources }];
    const spec = { runtimeClassName: 'r', containers };
    const { body } = await api.call('POST', path('pods'), { metadata: { name: 'a' }, spec });
    expect(why(body.message)).to.match(/requested: limits.cpu=1100m,requests.cpu=1100m/);
  });

  it('count a Pod whose requests are all 0 in the scope BestEffort', async () => {
    const api = await withQuota({ pods: '1' }, { scopes: ['BestEffort'] });
    await api.create(path('pods'), pod('a', { requests: { cpu: '0' } }));
    const { code } = await api.call('POST', path('pods'), pod('b'));
    expect(code).to.equal(403);
  });

  it('count the larger of the desired and the actual resources of a Pod during a resize, unless the resize is infeasible', async () => {
    const api = await withQuota({ 'requests.cpu': '3', 'limits.cpu': '4' });
    const given = (request: string, limit: string): object => ({
      requests: { cpu: request },
      limits: { cpu: limit },
    });
    await api.create(path('pods'), pod('a', given('1500m', '2')));
    const report = (resources: object, more: object = {}): Promise<Answer> => {
      const state = { running: {} };
      const status = { name: 'c', image: 'i', imageID: '', ready: true, restartCount: 0, state };
      const containerStatuses = [{ ...status, resources }];
      const body = { status: { containerStatuses, ...more } };
      return api.call('PATCH', `${path('pods')}/a/status`, body, merge);
    };
    const resize = (request: string, limit: string): Promise<Answer> => {
      const spec = { containers: [{ name: 'c', resources: given(request, limit) }] };
      const strategic = 'application/strategic-merge-patch+json';
      return api.call('PATCH', `${path('pods')}/a/resize`, { spec }, strategic);
    };
    const usedBy = async (request: string, limit: string): Promise<string> => {
      const { body } = await api.call('POST', path('pods'), pod('b', given(request, limit)));
      return /used: ([^ ]*), limited/.exec(body.message)?.[1] ?? '';
    };
    await report(given('1500m', '2'));
    expect((await resize('1', '1')).code).to.equal(200);
    expect(await usedBy('2', '3')).to.equal('limits.cpu=2,requests.cpu=1500m');
    await report(given('1', '1'));
    expect((await resize('2', '2')).code).to.equal(200);
    expect(await usedBy('2', '3')).to.equal('limits.cpu=2,requests.cpu=2');
    const pending = { type: 'PodResizePending', status: 'True', reason: 'Infeasible' };
    await report(given('1', '1'), { conditions: [pending] });
    expect(await usedBy('4', '5')).to.equal('limits.cpu=1,requests.cpu=1');
  });

  it('refuse Pods that set no request or limit for a resource that the quota limits', async () => {
    const api = await withQuota({ 'limits.memory': '1Gi', cpu: '1' });
    for (const given of [pod('a'), sharing('a', {})]) {
      const { body } = await api.call('POST', path('pods'), given);
      expect(why(body.message)).to.equal(
        'failed quota: q: must specify cpu for: c; limits.memory for: c',
      );
    }
  });

  it('count only Pods in their scopes', async () => {
    const api = await withQuota({ pods: '0' }, { scopes: ['BestEffort'] });
    const { body } = await api.call('POST', path('pods'), pod('a'));
    expect(why(body.message)).to.match(/^exceeded quota: q, requested: pods=1/);
    const stated = pod('b', { requests: { cpu: '1' } });
    expect((await api.call('POST', path('pods'), stated)).code).to.equal(201);
  });
});
