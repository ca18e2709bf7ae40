import { expect } from 'chai';
import { ResourceBuilder } from '../../../lib/lifecycle/index.js';
import { isJsonObject } from '../../../lib/object/json.js';
import { builder, objectsOf } from './suite/sample-objects.js';

const matchLabels = { app: 'web' };
const podSpec = { containers: [{ name: 'server', image: 'web:1' }] };
const common = { 'app.kubernetes.io/part-of': 'shop', tier: 'web' };
const operator = { 'app.kubernetes.io/part-of': 'shop-operator' };

describe('ResourceBuilder', () => {
  it('adds the common labels to objects of the deployed system, and the operator labels to objects of the operator', () => {
    const others = new Map(
      Object.entries(objectsOf('shop')).map(([method, { metadata }]) => [method, metadata.labels]),
    );
    expect(Object.fromEntries(others)).to.deep.equal({
      deployment: { ...common, app: 'web' },
      operatorDeployment: { ...operator, app: 'operator' },
      service: { ...common, app: 'web' },
      ...{ secret: common, configMap: common },
      ...{ clusterRole: common, operatorClusterRole: operator },
      aggregateClusterRole: {
        ...common,
        'rbac.authorization.k8s.io/aggregate-to-view': 'true',
      },
      ...{ role: common, roleBinding: common, clusterRoleBinding: common },
      ...{ operatorClusterRoleBinding: operator, serviceAccount: common },
      operatorServiceAccount: operator,
    });
  });

  it('lets the labels of an object override the common labels, and matchLabels override both', () => {
    const labels = { tier: 'own', app: 'other' };
    const made = builder.deployment({ name: 'web', matchLabels, labels, podSpec });
    expect(made.metadata.labels).to.deep.equal({ ...common, tier: 'own', app: 'web' });
    const podLabels = { tier: 'pods', app: 'other' };
    const { template } = builder.deployment({ name: 'web', matchLabels, podLabels, podSpec }).spec;
    expect(template.metadata?.labels).to.deep.equal({ ...common, tier: 'pods', app: 'web' });
    expect(builder.withCommonLabels({ tier: 'own' })).to.deep.equal({ ...common, tier: 'own' });
    const own = { 'app.kubernetes.io/part-of': 'own' };
    expect(builder.withOperatorLabels({ ...own, a: 'b' })).to.deep.equal({ ...own, a: 'b' });
  });

  it('creates a Deployment that selects by matchLabels only, and puts all labels on its Pods', () => {
    const { metadata, spec } = builder.deployment({
      ...{ name: 'web', namespace: 'shop', matchLabels, podSpec, podLabels: { extra: '1' } },
    });
    expect(metadata).to.deep.equal({
      ...{ name: 'web', namespace: 'shop', labels: { ...common, app: 'web' } },
    });
    expect(spec).to.deep.equal({
      replicas: 1,
      selector: { matchLabels },
      template: { metadata: { labels: { ...common, extra: '1', app: 'web' } }, spec: podSpec },
    });
  });

  it('omits empty maps, an empty namespace and an empty placement', () => {
    const bare = new ResourceBuilder();
    expect(bare.serviceAccount({ name: 'web' })).to.deep.equal({
      ...{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'web' } },
    });
    expect(bare.secret({ name: 'web', stringData: {} })).to.deep.equal({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'web' } },
    });
    expect(bare.configMap({ name: 'web', data: undefined })).to.deep.equal({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' } },
    });
    const { spec } = bare.deployment({ name: 'web', matchLabels, podSpec, nodePlacement: {} });
    expect(spec.template.spec).to.deep.equal(podSpec);
    expect(bare.service({ name: 'web', spec: {} }).spec).to.deep.equal({});
  });

  it('overrides the placement of the pod spec by the given placement', () => {
    const placed = { ...podSpec, nodeSelector: { disk: 'ssd' }, serviceAccountName: 'given' };
    const nodePlacement = { tolerations: [{ operator: 'Exists' }], nodeSelector: undefined };
    const options = { name: 'web', matchLabels, podSpec: placed, nodePlacement };
    expect(builder.deployment(options).spec.template.spec).to.deep.equal({
      ...placed,
      tolerations: [{ operator: 'Exists' }],
    });
    const other = { nodeSelector: { os: 'linux' }, affinity: { nodeAffinity: {} } };
    const moved = { ...options, nodePlacement: other, serviceAccount: 'web' };
    expect(builder.deployment(moved).spec.template.spec).to.deep.equal({
      ...{ ...podSpec, ...other, serviceAccountName: 'web' },
    });
  });

  it('encodes stringData of a Secret, over its data', () => {
    const { data } = builder.secret({
      ...{ name: 'web', data: { a: 'YQ==', b: 'YQ==' }, stringData: { b: 'ö' } },
    });
    expect(data).to.deep.equal({ a: 'YQ==', b: 'w7Y=' });
  });

  it('binds a role to a ServiceAccount of the same or another namespace', () => {
    const roleRef = { kind: 'Role', name: 'reader' } as const;
    const options = { name: 'web', namespace: 'shop', roleRef, serviceAccount: 'web' };
    const { subjects, roleRef: bound } = builder.roleBinding(options);
    expect(bound).to.deep.equal({ apiGroup: 'rbac.authorization.k8s.io', ...roleRef });
    expect(subjects).to.deep.equal([{ kind: 'ServiceAccount', name: 'web', namespace: 'shop' }]);
    const other = builder.roleBinding({ ...options, serviceAccountNamespace: 'other' });
    expect(other.subjects?.map(({ namespace }) => namespace)).to.deep.equal(['other']);
  });

  it('returns objects that share no part with each other or with the input', () => {
    const [once, again] = [objectsOf('shop'), objectsOf('shop')];
    const placed = Object.values(once).flatMap(partsOf);
    expect(new Set(placed).size, 'within').to.equal(placed.length);
    const seen = new Set([...placed, ...partsOf(podSpec), matchLabels, common, operator]);
    const made = builder.deployment({ name: 'web', matchLabels, podSpec });
    const parts = [...Object.values(again), made].flatMap(partsOf);
    expect(parts.filter((part) => seen.has(part))).to.deep.equal([]);
  });

  it('keeps its labels when the input changes later', () => {
    const labels: Record<string, string> = { a: 'b' };
    const own = new ResourceBuilder({ commonLabels: labels, operatorLabels: labels });
    labels['a'] = 'changed';
    own.withCommonLabels()['a'] = 'changed';
    expect([own.withCommonLabels(), own.withOperatorLabels()]).to.deep.equal([
      { a: 'b' },
      { a: 'b' },
    ]);
  });

  const refused: readonly [string, () => unknown, RegExp][] = [
    [
      'an invalid name',
      () => builder.configMap({ name: 'Web', namespace: 'shop' }),
      /ConfigMap shop\/Web can't be built: name "Web" must be/,
    ],
    ['an invalid namespace', () => builder.secret({ name: 'a', namespace: 'b.c' }), /namespace/],
    ['a Service by a name with a dot', () => builder.service({ name: 'a.b', spec: {} }), /a\.b/],
    [
      'a role by a name with a slash',
      () => builder.clusterRole({ name: 'a/b', rules: [] }),
      /a\/b/,
    ],
    [
      'an invalid label',
      () => builder.serviceAccount({ name: 'a', labels: { 'a b': '' } }),
      /label key "a b"/,
    ],
    [
      'an invalid pod label',
      () => builder.deployment({ name: 'a', matchLabels, podSpec, podLabels: { a: '-' } }),
      /Deployment a .*podLabels: label a/,
    ],
    [
      'an invalid annotation key',
      () => builder.configMap({ name: 'a', annotations: { 'a b': '' } }),
      /annotation key "a b"/,
    ],
    [
      'a Deployment that selects all pods',
      () => builder.deployment({ name: 'a', matchLabels: {}, podSpec }),
      /matchLabels: want at least one/,
    ],
    [
      'a binding to a ServiceAccount without a namespace',
      () =>
        builder.roleBinding({
          name: 'a',
          roleRef: { kind: 'Role', name: 'a' },
          serviceAccount: 'a',
        }),
      /serviceAccountNamespace/,
    ],
    ['a container without a name', () => builder.container({ name: '', image: 'a' }), /name must/],
    ['a container without an image', () => builder.container({ name: 'a', image: '' }), /image ""/],
    ['an image with spaces', () => builder.container({ name: 'a', image: 'a ' }), /image "a "/],
  ];
  for (const [title, build, message] of refused) {
    it(`rejects ${title}`, () => {
      expect(build).to.throw(message).with.property('code', 'InvalidObject');
    });
  }

  it('accepts capitals in annotation keys and colons in role names, as the API server does', () => {
    const annotations = { 'Example.com/Owner': 'us' };
    expect(
      builder.clusterRole({ name: 'system:a', annotations, rules: [] }).metadata,
    ).to.deep.equal({
      ...{ name: 'system:a', labels: common, annotations },
    });
  });

  it('rejects invalid labels in its constructor', () => {
    for (const option of ['commonLabels', 'operatorLabels']) {
      const construct = () => new ResourceBuilder({ [option]: { a: 'b c' } });
      expect(construct).to.throw(option).with.property('code', 'InvalidOption');
    }
  });
});

/** Returns `value` and all objects and lists in it. */
function partsOf(value: unknown): readonly object[] {
  if (Array.isArray(value)) return [value, ...value.flatMap(partsOf)];
  return isJsonObject(value) ? [value, ...Object.values(value).flatMap(partsOf)] : [];
}
