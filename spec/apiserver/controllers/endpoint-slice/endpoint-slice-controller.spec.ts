import { expect } from 'chai';
import { Deployment, EndpointSlice, Pod, Service } from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import { deployment, imagePatch, pod } from '../workload-objects.js';

function service(name: string, spec: object = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
  };
}

describe('a Service in the embedded cluster', () => {
  afterEach(stopSimulatedClusters);

  it('has an EndpointSlice with the addresses of its ready pods', async () => {
    const { create, list } = await simulatedCluster();
    await create(service('web'), deployment('web', { replicas: 2 }));
    const [slice] = await list(EndpointSlice);
    expect(slice!.metadata.labels).to.deep.equal({
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      'kubernetes.io/service-name': 'web',
    });
    expect(slice!.ports).to.deep.equal([{ name: '', port: 8080, protocol: 'TCP' }]);
    const addresses = (await list(Pod)).map(({ status }) => status!.podIP!);
    const endpoints = slice!.endpoints;
    expect(endpoints.flatMap((endpoint) => endpoint.addresses)).to.have.members(addresses);
    const [{ conditions, nodeName }] = endpoints as [(typeof endpoints)[number]];
    expect(conditions).to.deep.equal({ ready: true, serving: true, terminating: false });
    expect(nodeName).to.equal('node-0');
  });

  it('passes changes of its labels on to its EndpointSlices', async () => {
    const { create, list, patch } = await simulatedCluster();
    const { metadata, ...rest } = service('web');
    await create({ ...rest, metadata: { ...metadata, labels: { team: 'a', tier: 'front' } } });
    await patch(Service, 'web', { metadata: { labels: { team: 'b', tier: null } } });
    const [slice] = await list(EndpointSlice);
    expect(slice!.metadata.labels).to.deep.equal({
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      'kubernetes.io/service-name': 'web',
      team: 'b',
    });
  });

  it('notes the time of the last change of its endpoints on its EndpointSlices', async () => {
    const { create, list, clock, ...cluster } = await simulatedCluster();
    const annotations = async () => (await list(EndpointSlice))[0]!.metadata.annotations;
    const at = (minute: string) => ({
      'endpoints.kubernetes.io/last-change-trigger-time': `2026-01-01T00:${minute}:00Z`,
    });
    await create(service('web'));
    expect(await annotations()).to.deep.equal(at('00'));
    await clock.advance(60_000);
    await create(pod('one', {}, { labels: { app: 'web' } }));
    expect(await annotations()).to.deep.equal(at('01'));
    await clock.advance(60_000);
    await cluster.patch(Pod, 'one', { metadata: { annotations: { a: 'b' } } });
    expect(await annotations()).to.deep.equal(at('01'));
  });

  it('marks pods as not ready, but as ready with publishNotReadyAddresses', async () => {
    const { create, list } = await simulatedCluster();
    await create(
      service('web'),
      service('all', { selector: { app: 'web' }, publishNotReadyAddresses: true }),
    );
    await create(deployment('web', { replicas: 1 }, 'registry/app:never-ready'));
    const slices = await list(EndpointSlice);
    const ready = slices.map(({ metadata, endpoints }) => {
      return [metadata.labels!['kubernetes.io/service-name'], endpoints[0]!.conditions!.ready];
    });
    expect(ready).to.have.deep.members([
      ['web', false],
      ['all', true],
    ]);
  });

  it('resolves named ports of its pods, each in its own slice', async () => {
    const { create, list, ...cluster } = await simulatedCluster();
    await create(service('web', { ports: [{ name: 'http', port: 80, targetPort: 'http' }] }));
    for (const containerPort of [8080, 9090]) {
      const containers = [{ name: 'c', image: 'i:1', ports: [{ name: 'http', containerPort }] }];
      await create(pod(`on-${containerPort}`, { containers }, { labels: { app: 'web' } }));
    }
    const ports = (await list(EndpointSlice)).map((slice) => slice.ports![0]!.port);
    expect(ports.sort()).to.deep.equal([8080, 9090]);
    await cluster.delete(Pod, 'on-8080');
    const left = await list(EndpointSlice);
    expect(left.map((slice) => slice.ports![0]!.port)).to.deep.equal([9090]);
  });

  it('copies name, protocol and appProtocol of a port to its EndpointSlice', async () => {
    const { create, list } = await simulatedCluster();
    const port = { name: 'dns', protocol: 'UDP', appProtocol: 'example.com/dns' };
    await create(service('web', { ports: [{ ...port, port: 53 }] }));
    await create(deployment('web', { replicas: 1 }));
    const [slice] = await list(EndpointSlice);
    expect(slice!.ports).to.deep.equal([{ ...port, port: 53 }]);
  });

  it('lists only existing pods after a rollout', async () => {
    const { create, patch, list } = await simulatedCluster();
    await create(service('web'), deployment('web', { replicas: 2 }));
    await patch(Deployment, 'web', imagePatch('registry/app:2'));
    const uids = (await list(Pod)).map(({ metadata }) => metadata.uid);
    const [slice] = await list(EndpointSlice);
    expect(slice!.endpoints.map(({ targetRef }) => targetRef!.uid)).to.have.members(uids);
  });

  it('writes an EndpointSlice, empty or not, only when its content changes', async () => {
    const { create, patch, changes } = await simulatedCluster();
    await create(service('web'), service('empty'), deployment('web', { replicas: 1 }));
    const seen = changes(EndpointSlice);
    for (const name of ['web', 'empty']) {
      await patch(Service, name, { metadata: { annotations: { a: 'b' } } });
    }
    expect(seen).to.have.length(0);
  });

  it('has no slice without a selector, and is deleted with its slices', async () => {
    const { create, names, ...cluster } = await simulatedCluster();
    const spec = { ports: [{ port: 80 }] };
    const withoutSelector: Service = { ...service('external'), spec };
    await create(withoutSelector, service('web'));
    expect(await names(EndpointSlice)).to.have.length(1);
    await cluster.delete(Service, 'web');
    expect(await names(EndpointSlice)).to.deep.equal([]);
  });
});
