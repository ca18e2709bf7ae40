import { expect } from 'chai';
import { defineResource, s } from '../../../lib/crd/index.js';
import { controllerFor, done } from '../../../lib/controller/index.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { Manager, generatedCertificates } from '../../../lib/manager/index.js';
import type { ManagerOptions, RequiredAccess } from '../../../lib/manager/index.js';
import {
  ClusterRole,
  ConfigMap,
  Deployment,
  Pod,
  Role,
  Secret,
} from '../../../lib/object/kinds.js';
import { apiVersionOf } from '../../../lib/object/resource-type.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';

const spec = s.object({ replicas: s.integer() });

const Shop = defineResource({
  ...{ group: 'shops.example', kind: 'Shop' },
  versions: [{ name: 'v1', schema: s.object({ spec }), status: s.object({ ready: s.boolean() }) }],
});

const Plain = defineResource({
  ...{ group: 'shops.example', kind: 'Plain' },
  versions: [{ name: 'v1', schema: s.object({ spec }) }],
});

/** Formats access as `shops.example/v1 Shop/status: update patch`, followed by its namespace and names. */
function line(access: RequiredAccess): string {
  const { type, subresource, verbs, namespace, names = [] } = access;
  if (type === undefined) return `${access.nonResourceURLs.join(' ')}: ${verbs.join(' ')}`;
  const kind = subresource === undefined ? type.kind : `${type.kind}/${subresource}`;
  const where = namespace === undefined ? '' : ` in ${namespace}`;
  const of = names.length === 0 ? '' : `, of ${names.join(' ')}`;
  return `${apiVersionOf(type)} ${kind}: ${verbs.join(' ')}${where}${of}`;
}

/** Access to Events about quarantined objects. */
const events = 'events.k8s.io/v1 Event: create patch';

describe('Manager.requiredAccess', () => {
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start();
  });

  after(() => cluster.stop());

  const managerWith = (options: ManagerOptions = {}): Manager =>
    new Manager({ client: cluster.client(), ...options });
  const reconciler = () => Promise.resolve(done());

  it('returns the access that the controllers declare', () => {
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

  it('omits the status of a resource without a status subresource', () => {
    const manager = managerWith();
    manager.add(controllerFor(Plain).complete(reconciler));
    expect(manager.requiredAccess().map(line)).to.deep.equal([
      'shops.example/v1 Plain: get list watch',
      'shops.example/v1 Plain/finalizers: update',
      events,
    ]);
  });

  it('requires for a kind only the writes that the operator lists for it, if it lists any', () => {
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

  it('still requires all writes of a kind if the operator lists only reads of some of its objects', () => {
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

  const requiring = (verb: string) => () =>
    managerWith({ requires: [{ type: Pod, verbs: [verb] }] });

  for (const [verb, meant] of [
    ...[
      ['Get', 'get'],
      ['LIST', 'list'],
      ['lst', 'list'],
      ['lsit', 'list'],
      ['gets', 'get'],
    ],
    ...[
      ['craete', 'create'],
      ['updat', 'update'],
      ['delate', 'delete'],
      ['wacth', 'watch'],
    ],
    ...[
      ['deleteCollection', 'deletecollection'],
      ['Bind', 'bind'],
      ['egt', 'get'],
      ['lits', 'list'],
      ['wach', 'watch'],
      ['impersonat', 'impersonate'],
    ],
  ]) {
    it(`refuses the verb ${verb}, which no API has`, () => {
      const problem = `requires: verbs of Pod: did you mean "${meant}"?, got "${verb}"`;
      expect(requiring(verb ?? ''))
        .to.throw(problem)
        .with.property('code', 'InvalidOption');
    });
  }

  it('refuses several verbs in one string, and an empty string', () => {
    for (const verb of ['get,list', 'get list', '']) {
      expect(requiring(verb)).to.throw('verbs of Pod: want one verb in each entry');
    }
  });

  it('accepts the verbs of Kubernetes and of other APIs', () => {
    const ofKubernetes = [
      '*',
      'use',
      'bind',
      'escalate',
      'impersonate',
      'sign',
      'approve',
      'attest',
    ];
    const others = [
      'set',
      'match',
      'lift',
      'find',
      'user',
      'read',
      'delegate',
      'impersonate:user-info',
      'tgt',
      'lsxt',
      'pahct',
    ];
    for (const verb of [...ofKubernetes, ...others, 'deploy', 'relate', 'manageTenants']) {
      expect(requiring(verb), verb).to.not.throw();
    }
  });

  it('refuses a verb for paths that is not an HTTP method in lower case', () => {
    for (const verb of ['list', 'GET']) {
      const access = { nonResourceURLs: ['/metrics'], verbs: [verb as 'get'] };
      expect(() => managerWith({ requires: [access] })).to.throw(
        `verbs of /metrics: want get, head, post, put, patch, delete, options, *, got "${verb}"`,
      );
    }
  });

  it('contains the non-resource URLs of requires, each list of paths once', () => {
    const metrics = { nonResourceURLs: ['/metrics', '/debug/*'], verbs: ['get'] } as const;
    const manager = managerWith({ requires: [metrics, { ...metrics, verbs: ['get', 'post'] }] });
    manager.add(controllerFor(Plain).complete(reconciler), {
      requires: [metrics, { nonResourceURLs: ['*'], verbs: ['*'] }],
    });
    expect(manager.requiredAccess().map(line).slice(2)).to.deep.equal([
      '/metrics /debug/*: get post',
      '*: *',
      events,
    ]);
  });

  it('contains escalate and bind in addition to the access to owned roles', () => {
    const manager = managerWith();
    manager.add(controllerFor(Plain).owns(Role).complete(reconciler), {
      requires: [
        { type: Role, verbs: ['bind', 'escalate'] },
        { type: ClusterRole, verbs: ['bind'], names: ['view'] },
      ],
    });
    expect(manager.requiredAccess().map(line).slice(2)).to.deep.equal([
      'rbac.authorization.k8s.io/v1 Role: get list watch create update patch delete bind escalate',
      'rbac.authorization.k8s.io/v1 ClusterRole: bind, of view',
      events,
    ]);
  });

  it('merges the access that several controllers need, in the cached namespaces and with the Lease', () => {
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

  it('contains the TokenReviews and SubjectAccessReviews of metrics clients, and the Secret of the metrics certificate', () => {
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
    // RBAC names resources by their plurals.
    const types = manager.requiredAccess().map(({ type }) => type as ResourceType);
    expect(types.slice(0, 2).map(({ plural }) => plural)).to.deep.equal([
      ...['tokenreviews', 'subjectaccessreviews'],
    ]);
    const open = managerWith({ metrics: { serve: false, access: 'reviewed' } });
    expect(open.requiredAccess()).to.deep.equal([]);
  });

  it('sends no request', () => {
    const since = cluster.requests.mark();
    const manager = managerWith();
    manager.add(controllerFor(Shop).owns(Deployment).complete(reconciler));
    manager.requiredAccess();
    expect(manager.controllers.map(({ name }) => name)).to.deep.equal(['shop']);
    expect(cluster.requests.since(since).byVerbAndResource()).to.deep.equal({});
  });
});
