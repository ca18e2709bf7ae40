import { expect } from 'chai';
import { serviceEndpoints } from '../../../../lib/apiserver/controllers/endpoint-slice-controller.js';
import type { Pod, Service } from '../../../../lib/object/kinds.js';
import { pod } from '../workload-objects.js';

const service: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
};

function podAt(
  podIP: string | undefined,
  facts: { phase?: string; ready?: boolean; deleted?: boolean } = {},
): Pod {
  const { phase = 'Running', ready = true, deleted = false } = facts;
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  const metadata = deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {};
  const status = { phase, conditions, ...(podIP !== undefined && { podIP }) };
  return { ...pod('p', {}, metadata), status };
}

function conditionsOf(...pods: Pod[]): object[] {
  const groups = serviceEndpoints(service, pods);
  return groups.flatMap(({ endpoints }) => endpoints.map(({ conditions }) => conditions ?? {}));
}

describe('serviceEndpoints', () => {
  it('returns the conditions ready, serving and terminating for each pod', () => {
    expect(conditionsOf(podAt('10.0.0.1'))).to.deep.equal([
      { ready: true, serving: true, terminating: false },
    ]);
    expect(conditionsOf(podAt('10.0.0.1', { ready: false }))).to.deep.equal([
      { ready: false, serving: false, terminating: false },
    ]);
    expect(conditionsOf(podAt('10.0.0.1', { deleted: true }))).to.deep.equal([
      { ready: false, serving: true, terminating: true },
    ]);
  });

  it('omits pods without an address and finished pods', () => {
    expect(conditionsOf(podAt(undefined), podAt('10.0.0.1', { phase: 'Succeeded' }))).to.deep.equal(
      [],
    );
  });

  it('returns one empty group if there are no pods', () => {
    expect(serviceEndpoints(service, [])).to.deep.equal([{ ports: [], endpoints: [] }]);
  });

  it('finds a named port by its protocol, in sidecars too', () => {
    const named = podAt('10.0.0.1');
    const port = { name: 'metrics', containerPort: 9090 };
    const sidecar = { name: 'proxy', restartPolicy: 'Always', ports: [port] };
    const ports = [{ port: 80, targetPort: 'metrics' }];
    const portsOf = (protocol: string): object[] => {
      const [first] = ports;
      const target = { ...service, spec: { ...service.spec, ports: [{ ...first!, protocol }] } };
      const spec = { ...named.spec!, initContainers: [sidecar] };
      return serviceEndpoints(target, [{ ...named, spec }]).flatMap((group) => [...group.ports]);
    };
    expect(portsOf('TCP')).to.deep.equal([{ name: '', port: 9090, protocol: 'TCP' }]);
    expect(portsOf('UDP')).to.deep.equal([]);
  });

  it('sets the hostname of a pod whose subdomain is the Service', () => {
    const named = podAt('10.0.0.1');
    const spec = { ...named.spec!, hostname: 'web-0', subdomain: 'web' };
    const [group] = serviceEndpoints(service, [{ ...named, spec }]);
    expect(group!.endpoints[0]!.hostname).to.equal('web-0');
    const other = serviceEndpoints(service, [{ ...named, spec: { ...spec, subdomain: 'x' } }]);
    expect(other[0]!.endpoints[0]).not.to.have.property('hostname');
  });
});
