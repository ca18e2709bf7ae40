import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import { OperatorRole, watchVerbs } from '../../../lib/manager/index.js';
import type { MissingRule, RequiredAccess } from '../../../lib/manager/index.js';
import { ConfigMap, Deployment, Node, Secret } from '../../../lib/object/kinds.js';

const Shop = defineResource({
  ...{ group: 'shops.example', kind: 'Shop' },
  versions: [{ name: 'v1', schema: s.object({ spec: s.object({}) }) }],
});

const user = { username: 'operator', groups: [] } as never;
const request = { verb: 'list', group: '', resource: 'secrets', subresource: '', namespace: '' };

describe('OperatorRole', () => {
  let cluster: EmbeddedCluster;
  let missing: MissingRule[];
  let role: OperatorRole;

  before(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Shop] });
  });
  after(() => cluster.stop());
  beforeEach(() => {
    missing = [];
    role = new OperatorRole({ name: 'shops', cluster, onMissing: (each) => missing.push(each) });
  });

  const asked = (more: Partial<Parameters<OperatorRole['authorize']>[1]> = {}) => ({
    ...{ ...request, name: '' },
    ...more,
  });
  const allows = (more: Parameters<typeof asked>[0]): boolean =>
    role.authorize(user, asked(more)).allowed;

  it('allows everything until the required access is declared, for the service account that the manifests name', async () => {
    expect(role.user).to.equal('system:serviceaccount:shops-system:shops-controller-manager');
    expect([allows({}), role.rules]).to.deep.equal([true, []]);
    await role.declare([]);
    expect([allows({}), role.rules]).to.deep.equal([false, []]);
  });

  it('always allows access reviews about the operator itself, and paths that every user may read', async () => {
    await role.declare([]);
    const group = 'authorization.k8s.io';
    const review = { verb: 'create', group, resource: 'selfsubjectaccessreviews' };
    expect(allows(review)).to.equal(true);
    expect([allows({ path: '/apis', verb: 'get' }), allows({ path: '/debug' })]).to.deep.equal([
      ...[true, false],
    ]);
  });

  it('allows the declared access, in the declared namespaces and to the declared names', async () => {
    const access: readonly RequiredAccess[] = [
      { type: Deployment, verbs: watchVerbs },
      { type: Deployment, subresource: 'status', verbs: ['patch'] },
      { type: Secret, verbs: ['get'], names: ['tls'], namespace: 'a' },
      { type: Secret, verbs: ['list'], namespace: 'a' },
      { type: ConfigMap, verbs: ['get'], names: [] },
      { type: { apiVersion: 'other.example/v1', kind: 'Unserved' }, verbs: ['get'] },
      // A cluster-scoped kind has no namespace.
      { type: Node, verbs: ['list'], namespace: 'a' },
    ];
    await role.declare(access);
    const rule = (apiGroup: string, resource: string, verbs: readonly string[]) => ({
      ...{ apiGroups: [apiGroup], resources: [resource], verbs },
    });
    const everywhere = [
      rule('apps', 'deployments', watchVerbs),
      rule('apps', 'deployments/status', ['patch']),
      rule('', 'nodes', ['list']),
    ];
    const inA = [
      { ...rule('', 'secrets', ['get']), resourceNames: ['tls'] },
      rule('', 'secrets', ['list']),
    ];
    expect(role.rules).to.deep.equal([...everywhere, ...inA]);
    expect(role.rulesFor(user, 'a')).to.deep.equal([...everywhere, ...inA]);
    expect(role.rulesFor(user, 'b')).to.deep.equal(everywhere);
    const secret = { verb: 'get', namespace: 'a', name: 'tls' };
    expect([allows(secret), allows({ ...secret, name: 'x' })]).to.deep.equal([true, false]);
    expect([allows({ namespace: 'a' }), allows({ namespace: 'b' })]).to.deep.equal([true, false]);
  });

  it('allows the declared paths in all namespaces', async () => {
    await role.declare([{ nonResourceURLs: ['/metrics', '/debug/*'], verbs: ['get'] }]);
    const rule = { nonResourceURLs: ['/metrics', '/debug/*'], verbs: ['get'] };
    expect(role.rulesFor(user, 'a')).to.deep.equal([rule]);
    const paths = ['/metrics', '/debug/pprof', '/logs'];
    expect(paths.map((path) => allows({ path, verb: 'get' }))).to.deep.equal([true, true, false]);
    expect(allows({ path: '/metrics', verb: 'post' })).to.equal(false);
  });

  it("adds the user's own rules, and replaces an earlier declaration", async () => {
    const own = (verb: string) => [
      { apiGroups: [''], resources: ['secrets'], resourceNames: [], verbs: [verb] },
    ];
    await role.declare([{ type: Secret, verbs: ['get'], namespace: 'a' }], {
      everywhere: own('list'),
      inNamespaces: new Map([
        ['a', own('patch')],
        ['b', own('delete')],
      ]),
    });
    const verbsIn = (namespace: string): string[] =>
      role.rulesFor(user, namespace).flatMap(({ verbs }) => verbs);
    expect(['a', 'b', 'c'].map(verbsIn)).to.deep.equal([
      ...[['list', 'get', 'patch'], ['list', 'delete'], ['list']],
    ]);
    await role.declare([]);
    expect(verbsIn('a')).to.deep.equal([]);
  });

  it('reports each rule that a controller lacks once, with the entry of requires and the rule to add', async () => {
    await role.declare([]);
    const refused = (controller: string | undefined, more: Parameters<typeof asked>[0]): void => {
      const send = async (): Promise<void> => role.onRefused(user, asked(more));
      if (controller === undefined) void send();
      else void role.tracer.span('reconcile', { 'k8s.controller': controller }, send);
    };
    for (let n = 0; n < 2; n++) {
      refused(undefined, { namespace: 'a' });
      refused('shop', { namespace: 'b' });
      refused('shop', { group: 'shops.example', resource: 'shops', subresource: 'status' });
      refused('shop', { path: '/debug', verb: 'get' });
      refused('shop', { group: 'other.example', resource: 'unserved' });
    }
    const subject = 'controller shop: its role does not allow it to';
    const remedy =
      'add the entry to requires of the controller, or the rule to config/rbac/role.yaml';
    const ruleOnly = 'add the rule to config/rbac/role.yaml';
    const shop =
      "{ group: 'shops.example', version: 'v1', kind: 'Shop', plural: 'shops', namespaced: true }";
    expect(missing).to.deep.equal(
      [
        [
          `operator: its role does not allow it to list secrets in namespace a; ${remedy}`,
          "  requires: { type: Secret, verbs: ['list'] }",
          "  rule: { apiGroups: [''], resources: [secrets], verbs: [list] }",
        ],
        [
          `${subject} list secrets in namespace b; ${remedy}`,
          "  requires: { type: Secret, verbs: ['list'] }",
          "  rule: { apiGroups: [''], resources: [secrets], verbs: [list] }",
        ],
        [
          `${subject} list shops/status of shops.example; ${remedy}`,
          `  requires: { type: ${shop}, subresource: 'status', verbs: ['list'] }`,
          "  rule: { apiGroups: ['shops.example'], resources: [shops/status], verbs: [list] }",
        ],
        [
          `${subject} get /debug; ${remedy}`,
          "  requires: { nonResourceURLs: ['/debug'], verbs: ['get'] }",
          "  rule: { nonResourceURLs: ['/debug'], verbs: [get] }",
        ],
        [
          `${subject} list unserved of other.example; ${ruleOnly}`,
          "  rule: { apiGroups: ['other.example'], resources: [unserved], verbs: [list] }",
        ],
      ].map((lines, n) => ({
        controller: n === 0 ? undefined : 'shop',
        message: lines.join('\n'),
      })),
    );
  });

  it('suggests an entry for bind or escalate that is limited to the requested role', async () => {
    await role.declare([]);
    const group = 'rbac.authorization.k8s.io';
    const binding = { group, resource: 'roles', namespace: 'a', name: 'viewer', verb: 'bind' };
    const refusals: Parameters<typeof asked>[0][] = [
      binding,
      { ...binding, verb: 'escalate', resource: 'clusterroles' },
      // Without a name, the request is for the right to bind every role.
      { ...binding, name: '' },
      { ...binding, verb: 'get' },
      { path: '/bind', verb: 'bind', name: 'viewer' },
    ];
    for (const more of refusals) role.onRefused(user, asked(more));
    const rule = (rest: string): string =>
      `  rule: { apiGroups: ['${group}'], resources: ${rest} }`;
    const orGrant =
      '  or require the rights of that role: an account may grant only rights that it has';
    expect(missing.map(({ message }) => message.split('\n').slice(1))).to.deep.equal([
      [
        "  requires: { type: Role, names: ['viewer'], namespace: 'a', verbs: ['bind'] }",
        rule("[roles], resourceNames: ['viewer'], verbs: [bind]"),
        orGrant,
      ],
      [
        "  requires: { type: ClusterRole, names: ['viewer'], verbs: ['escalate'] }",
        rule("[clusterroles], resourceNames: ['viewer'], verbs: [escalate]"),
        orGrant,
      ],
      ["  requires: { type: Role, verbs: ['bind'] }", rule('[roles], verbs: [bind]')],
      ["  requires: { type: Role, verbs: ['get'] }", rule('[roles], verbs: [get]')],
      [
        "  requires: { nonResourceURLs: ['/bind'], verbs: ['bind'] }",
        "  rule: { nonResourceURLs: ['/bind'], verbs: [bind] }",
      ],
    ]);
  });

  it("suggests an entry with the constant of a custom resource's type if the operator declares that type", async () => {
    await role.declare([{ type: Shop, verbs: ['get'] }]);
    const shops = { group: 'shops.example', resource: 'shops' };
    expect(role.authorize(user, asked(shops)).reason).to.equal(
      "the operator's role has no such rule; add { type: Shop, verbs: ['list'] } to requires",
    );
    expect(role.authorize(user, asked({ resource: 'unserved' })).reason).to.equal(
      "the operator's role has no such rule",
    );
  });
});
