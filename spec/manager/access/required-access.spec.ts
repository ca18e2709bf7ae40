import { expect } from 'chai';
import { defineResource, s } from '../../../lib/crd/index.js';
import { controllerFor, done } from '../../../lib/controller/index.js';
import { EmbeddedCluster } from '../../../lib/embedded/index.js';
import { Manager, generatedCertificates } from '../../../lib/manager/index.js';
import type { ManagerOptions, RequiredAccess } from '../../../lib/manager/index.js';
import { ConfigMap, Deployment, Pod, Secret } from '../../../lib/object/kinds.js';
import { apiVersionOf } from '../../../lib/object/resource-type.js';

const spec = s.object({ replicas: s.integer() });

const Shop = defineResource({
  ...{ group: 'shops.example', kind: 'Shop' },
  versions: [{ name: 'v1', schema: s.object({ spec }), status: s.object({ ready: s.boolean() }) }],
});

const Plain = defineResource({
  ...{ group: 'shops.example', kind: 'Plain' },
  versions: [{ name: 'v1', schema: s.object({ spec }) }],
});

/** `shops.example/v1 Shop/status: update patch`, and where. */
function line({ type, subresource, verbs, namespace, names = [] }: RequiredAccess): string {
  const kind = subresource === undefined ? type.kind : `${type.kind}/${subresource}`;
  const where = namespace === undefined ? '' : ` in ${namespace}`;
  const of = names.length === 0 ? '' : `, of ${names.join(' ')}`;
  return `${apiVersionOf(type)} ${kind}: ${verbs.join(' ')}${where}${of}`;
}

/** About objects in quarantine. */
const events = 'events.k8s.io/v1 Event: create patch';

describe('The access that a manager requires', () => {
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start();
  });

  after(() => cluster.stop());

  const managerWith = (options: ManagerOptions = {}): Manager =>
    new Manager({ client: cluster.client(), ...options });
  const reconciler = () => Promise.resolve(done());

  it('is what its controllers declare', () => {
    const manager = managerWith();
    manager.add(
      controllerFor(Shop)
        .owns(Deployment)
        .watches(Secret, () => [])
        .complete(reconciler),
    );
    expect(manager.requiredAccess().map(line)).to.deep.equal([
      'shops.example/v1 Shop: get list watch',
      'shops.example/v1 Shop/status: update patch',
      'shops.example/v1 Shop/finalizers: update',
      'apps/v1 Deployment: get list watch create update patch delete',
      'v1 Secret: get list watch',
      events,
    ]);
  });

  it('has no status for a resource that has none', () => {
    const manager = managerWith();
    manager.add(controllerFor(Plain).complete(reconciler));
    expect(manager.requiredAccess().map(line)).to.deep.equal([
      'shops.example/v1 Plain: get list watch',
      'shops.example/v1 Plain/finalizers: update',
      events,
    ]);
  });

  it('is narrower where the operator says how it writes', () => {
    const manager = managerWith({ requires: [{ type: Pod, verbs: ['list'] }] });
    manager.add(controllerFor(Shop).owns(ConfigMap).complete(reconciler), {
      requires: [
        { type: ConfigMap, verbs: ['patch'] },
        { type: Shop, subresource: 'status', verbs: ['patch'] },
      ],
    });
    expect(manager.requiredAccess().map(line)).to.deep.equal([
      'shops.example/v1 Shop: get list watch',
      'shops.example/v1 Shop/finalizers: update',
      'v1 ConfigMap: get list watch patch',
      'shops.example/v1 Shop/status: patch',
      'v1 Pod: list',
      events,
    ]);
  });

  it('is not narrower where the operator says that it reads some objects', () => {
    const manager = managerWith();
    const requires: readonly RequiredAccess[] = [
      { type: ConfigMap, verbs: ['get'], namespace: 'kube-system' },
      { type: ConfigMap, verbs: ['get'], names: ['a'] },
    ];
    manager.add(controllerFor(Plain).owns(ConfigMap).complete(reconciler), { requires });
    expect(manager.requiredAccess().map(line).slice(2)).to.deep.equal([
      'v1 ConfigMap: get list watch create update patch delete',
      'v1 ConfigMap: get in kube-system',
      'v1 ConfigMap: get, of a',
      events,
    ]);
  });

  it('is that of several controllers once, in the namespaces that are cached, with the Lease', () => {
    const manager = managerWith({
      cacheOptions: { namespaces: ['a', 'b'] },
      leaderElection: { namespace: 'system', name: 'shops' },
    });
    manager.add(controllerFor(ConfigMap).complete(reconciler));
    manager.add(controllerFor(Plain).owns(ConfigMap).complete(reconciler), {
      requires: [{ type: ConfigMap, verbs: ['create'] }],
    });
    const lines = manager.requiredAccess().map(line);
    expect(lines).to.include('v1 ConfigMap: get list watch create in a');
    expect(lines).to.include('v1 ConfigMap: get list watch create in b');
    expect(lines).to.include('coordination.k8s.io/v1 Lease: create in system');
    expect(lines).to.include('coordination.k8s.io/v1 Lease: get update in system, of shops');
    expect(lines).to.have.lengthOf(new Set(lines).size);
  });

  it('includes the reviews of who scrapes metrics, and the certificate of their server', () => {
    const secret = { namespace: 'system', name: 'metrics' };
    const manager = managerWith({
      metrics: {
        access: 'reviewed',
        certificate: generatedCertificates({
          client: cluster.client(),
          secret,
          dnsNames: ['metrics.system.svc'],
        }),
      },
    });
    expect(manager.requiredAccess().map(line)).to.deep.equal([
      'authentication.k8s.io/v1 TokenReview: create',
      'authorization.k8s.io/v1 SubjectAccessReview: create',
      'v1 Secret: get update in system, of metrics',
      'v1 Secret: create in system',
    ]);
    const open = managerWith({ metrics: { serve: false, access: 'reviewed' } });
    expect(open.requiredAccess()).to.deep.equal([]);
  });

  it('asks no server', () => {
    const since = cluster.requests.mark();
    const manager = managerWith();
    manager.add(controllerFor(Shop).owns(Deployment).complete(reconciler));
    manager.requiredAccess();
    expect(manager.controllers.map(({ name }) => name)).to.deep.equal(['shop']);
    expect(cluster.requests.since(since).byVerbAndResource()).to.deep.equal({});
  });
});
