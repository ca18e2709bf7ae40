import { expect } from 'chai';
import { idOf } from '../../../lib/cli/upgrade/cluster-state.js';
import type { ClusterState } from '../../../lib/cli/upgrade/cluster-state.js';
import { compareStates } from '../../../lib/cli/upgrade/compare-states.js';
import { renderUpgrade } from '../../../lib/cli/upgrade/upgrade-report.js';
import type { UnstructuredObject } from '../../../lib/object/index.js';

/** Fields of an object. Its uid is by default its kind and name. */
interface Given {
  readonly [field: string]: unknown;
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
  readonly uid?: string;
  /** Kind and name of the controller. */
  readonly owner?: string;
  /** @defaultValue the operator */
  readonly manager?: string;
}

function object(given: Given): UnstructuredObject {
  const { apiVersion = 'v1', kind, name, owner, manager = 'shop-operator', ...others } = given;
  const { uid = `${kind} ${name}`, ...fields } = others;
  const [ownerKind = '', ownerName = ''] = owner?.split(' ') ?? [];
  const references = [
    { apiVersion: 'apps/v1', kind: ownerKind, name: ownerName, uid: owner ?? '', controller: true },
  ];
  const metadata = {
    ...{ name, namespace: 'shop', uid, managedFields: [{ manager, operation: 'Apply' }] },
    ...(owner !== undefined && { ownerReferences: references }),
  };
  return { apiVersion, kind, metadata, ...fields } as unknown as UnstructuredObject;
}

const state = (...objects: readonly Given[]): ClusterState =>
  new Map(objects.map(object).map((one) => [idOf(one), one] as const));

const compared = (before: readonly Given[], after: readonly Given[] = []) =>
  compareStates({ before: state(...before), after: state(...after) });

/** The lines of the report, without the first and the last. */
const report = (before: readonly Given[], after: readonly Given[] = []): readonly string[] => {
  const comparison = compared(before, after);
  const text = renderUpgrade({ operator: 'shops', resources: [], ...comparison }, { color: false });
  return text.split('\n').slice(1, -2);
};

const inApps = { apiVersion: 'apps/v1' };
const template = (podSpec: object): object => ({ spec: { template: { spec: podSpec } } });
const web = { ...inApps, kind: 'Deployment', name: 'web', ...template({ containers: [] }) };
const replicas = { ...inApps, kind: 'ReplicaSet', name: 'web-1', owner: 'Deployment web' };
const pods = ['a', 'b'].map((name) => ({ kind: 'Pod', name, owner: 'ReplicaSet web-1' }));
const running = [web, replicas, ...pods];

describe('The comparison of two states of a cluster', () => {
  it('finds a deleted workload, and does not list the pods of the workload as well', () => {
    expect(compared(running)).to.deep.equal({
      findings: [
        {
          type: 'pruned',
          ref: { ...inApps, kind: 'Deployment', namespace: 'shop', name: 'web' },
          message: 'it is pruned, with its 2 pods',
          ...{ changes: [], causes: [], users: [] },
          remedy: 'none if nothing else uses it',
        },
      ],
      changes: [],
    });
  });

  it('names all objects that use a deleted object', () => {
    const user = {
      ...inApps,
      ...{ kind: 'Deployment', name: 'user' },
      ...template({
        serviceAccountName: 'account',
        imagePullSecrets: [{ name: 'pull' }],
        volumes: [
          { name: 'a', configMap: { name: 'settings' } },
          { name: 'b', secret: { secretName: 'password' } },
          { name: 'c', persistentVolumeClaim: { claimName: 'data' } },
        ],
        containers: [{ name: 'a', image: 'a' }],
      }),
    };
    const bare = {
      ...{ kind: 'Pod', name: 'bare', manager: 'kubectl' },
      spec: { containers: [{ name: 'a', envFrom: [{ configMapRef: { name: 'settings' } }] }] },
    };
    const gone = [
      { kind: 'ConfigMap', name: 'settings' },
      { kind: 'Secret', name: 'password' },
      { kind: 'Secret', name: 'pull' },
      { kind: 'PersistentVolumeClaim', name: 'data' },
      { kind: 'ServiceAccount', name: 'account' },
      { kind: 'Service', name: 'account' },
      { kind: 'ConfigMap', name: 'unused' },
    ];
    const by = '; Deployment shop/user refers to it';
    const none = '    remedy: none if nothing else uses it';
    expect(report([...gone, user, bare], [user, bare])).to.deep.equal([
      '! pruned ConfigMap shop/settings: it is pruned; Deployment shop/user, Pod shop/bare refers to it',
      none,
      ...[`! pruned Secret shop/password: it is pruned${by}`, none],
      ...[`! pruned Secret shop/pull: it is pruned${by}`, none],
      `! claim PersistentVolumeClaim shop/data: it is deleted with its data${by}`,
      '    remedy: set its annotation operator-builder.io/prune: "false" to keep it, or copy the data first',
      ...[`! pruned ServiceAccount shop/account: it is pruned${by}`, none],
      ...['! pruned Service shop/account: it is pruned', none],
      ...['! pruned ConfigMap shop/unused: it is pruned', none],
    ]);
  });

  it('takes the most similar new object as the replacement of a deleted one', () => {
    const old = { kind: 'ConfigMap', name: 'old', data: { a: '1', b: '2' } };
    const others = [
      { kind: 'ConfigMap', name: 'far', data: { c: '3' } },
      { kind: 'Secret', name: 'near', data: { a: '1', b: '2' } },
      { kind: 'ConfigMap', name: 'near', data: { a: '1', b: '3' } },
    ];
    expect(report([old], others)).to.deep.equal([
      '! renamed ConfigMap shop/old: it is pruned, and ConfigMap shop/near replaces it',
      '    ~ metadata.name: "old" → "near"',
      '    remedy: keep the name old',
      '+ ConfigMap shop/far create',
      '+ Secret shop/near create',
    ]);
  });

  it('finds recreated objects, with the consequences', () => {
    const kinds = [
      { apiVersion: 'batch/v1', kind: 'Job', name: 'a' },
      { kind: 'PersistentVolumeClaim', name: 'a', spec: { size: 1 } },
      { kind: 'Service', name: 'a' },
    ];
    const again = [...kinds, web, replicas].map((one) => ({ ...one, uid: `new ${one.name}` }));
    const remedy =
      '    remedy: leave the immutable fields unchanged, or make sure that the object may be absent for a while';
    expect(report([...kinds, ...running], [...again, ...pods.slice(1)])).to.deep.equal([
      ...['! recreated Job shop/a: it is recreated; it runs again', remedy],
      '! claim PersistentVolumeClaim shop/a: it is recreated: its data is lost',
      remedy,
      ...['! recreated Service shop/a: it is recreated', remedy],
      '! recreated Deployment shop/web: it is recreated; 1 of its 2 pods are replaced',
      remedy,
    ]);
  });

  it('says when a harmless change takes effect', () => {
    const of = (image: string): readonly Given[] => {
      const spec = { ...template({ containers: [{ name: 'a', image }] }) };
      return [
        { ...inApps, kind: 'Deployment', name: 'idle', ...spec },
        {
          ...{ ...inApps, kind: 'DaemonSet', name: 'later' },
          spec: { ...(spec as { spec: object }).spec, updateStrategy: { type: 'OnDelete' } },
        },
        { apiVersion: 'batch/v1', kind: 'CronJob', name: 'night', spec: { schedule: image } },
        { kind: 'Service', name: 'web', spec: { type: image } },
      ];
    };
    const field = (path: string) => `    ~ ${path}: "a:1" → "a:2"`;
    const image = field('spec.template.spec.containers[name=a].image');
    expect(report(of('a:1'), of('a:2'))).to.deep.equal([
      ...['~ Deployment shop/idle configure (it has no pods)', image],
      ...['~ DaemonSet shop/later configure (its pods are updated once they are deleted)', image],
      '~ CronJob shop/night configure (the change applies from its next run)',
      field('spec.schedule'),
      ...['~ Service shop/web configure', field('spec.type')],
    ]);
  });

  it('names as the cause of a restart only objects whose content has changed', () => {
    const settings = (name: string, data: object, labels = {}): Given => ({
      ...{ kind: 'ConfigMap', name, data, labels },
    });
    const hashed = (value: string): Given => {
      const env = ['SETTINGS', 'OTHERS'].map((name) => ({ name: `CONFIGMAP_HASH_${name}`, value }));
      const envFrom = ['settings', 'others'].map((name) => ({ configMapRef: { name } }));
      return { ...web, ...template({ containers: [{ name: 'a', env, envFrom }] }) };
    };
    const before = [hashed('1'), replicas, ...pods, settings('settings', { a: '1' })];
    const after = [hashed('2'), replicas, ...pods, settings('settings', { a: '2' })];
    const others = settings('others', { b: '1' });
    const [restart] = compared([...before, others], [...after, others]).findings;
    expect(restart).to.include({ type: 'restart' });
    expect(restart?.causes.map(({ name }) => name)).to.deep.equal(['settings']);
  });

  it('ignores immutable fields and the new uid of an object that the check recreated', () => {
    const service = (uid: string, clusterIP: string, type: string): Given => ({
      ...{ kind: 'Service', name: 'a', uid, spec: { clusterIP, type } },
    });
    const [from, to] = [service('old', '1.1.1.1', 'A'), service('new', '1.1.1.2', 'B')];
    const remade = [{ apiVersion: 'v1', kind: 'Service', name: 'a', uid: 'new' }];
    const found = compareStates({ before: state(from), after: state(to), remade });
    expect(found).to.deep.equal({
      findings: [],
      changes: [
        {
          action: 'configure',
          ref: { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'a' },
          changes: [{ path: 'spec.type', from: 'A', to: 'B' }],
        },
      ],
    });
  });

  it('omits objects that the cluster itself creates', () => {
    const derived = [
      ...['ControllerRevision', 'Endpoints', 'EndpointSlice', 'Event', 'Lease'].map((kind) => {
        return { kind, name: 'a' };
      }),
      { kind: 'Pod', name: 'c', owner: 'ReplicaSet web-1' },
      { kind: 'ConfigMap', name: 'kube-root-ca.crt', manager: 'kube-controller-manager' },
      { kind: 'ServiceAccount', name: 'default', manager: 'kube-controller-manager' },
      { kind: 'CustomResourceDefinition', name: 'a' },
      ...[
        ...['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet'],
        'upgrade-check',
      ].map((manager) => ({ kind: 'Node', name: manager, manager })),
      { kind: 'Namespace', name: 'a', manager: 'kube-apiserver' },
      { kind: 'PersistentVolume', name: 'a', manager: 'kube-controller-manager' },
    ];
    expect(compared(derived)).to.deep.equal({ findings: [], changes: [] });
    expect(compared([], derived)).to.deep.equal({ findings: [], changes: [] });
    const own = [
      ...['Node', 'Namespace', 'PersistentVolume'].map((kind) => ({ kind, name: 'a' })),
      { kind: 'ConfigMap', name: 'kube-root-ca.crt' },
    ];
    expect(compared([], own).changes.map(({ ref }) => `${ref.kind} ${ref.name}`)).to.deep.equal([
      ...['Node a', 'Namespace a', 'PersistentVolume a', 'ConfigMap kube-root-ca.crt'],
    ]);
  });
});

describe('The report of an upgrade', () => {
  it('shortens long values, counts findings by type, and lists changed fields whose values it must not show', () => {
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a' };
    const rest = { causes: [], users: [], remedy: undefined };
    const text = 'a'.repeat(199);
    const changes = [
      { path: 'hidden', from: undefined, to: undefined },
      { path: 'short', from: 'a'.repeat(198), to: 1 },
      { path: 'long', from: text, to: undefined },
      { path: 'new', from: undefined, to: text },
    ];
    const found = { ref, ...rest, message: 'm', changes: [] };
    const findings = [
      { ...found, type: 'failed', changes, causes: [ref, ref] },
      { ...found, type: 'schema' },
      { ...found, type: 'failed' },
    ] as const;
    const given = { operator: 'shops', resources: [ref], findings, changes: [] };
    expect(renderUpgrade(given, { color: false }).split('\n')).to.deep.equal([
      'Upgrade of shops, with 1 object stored',
      '! failed ConfigMap shop/a: m, because of changes in ConfigMap shop/a, ConfigMap shop/a',
      '    ! hidden',
      `    ~ short: "${'a'.repeat(198)}" → 1`,
      `    - long: "${text}…`,
      `    + new: "${text}…`,
      '! schema ConfigMap shop/a: m',
      '! failed ConfigMap shop/a: m',
      '2 failed, 1 schema, 0 harmless changes',
      '',
    ]);
  });
});
