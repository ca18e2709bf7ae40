import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { EmbeddedCluster, usedRolesText } from '../../../lib/apiserver/index.js';
import { usedRoles } from '../../../lib/apiserver/internal.js';
import { ConfigMap, Deployment, Node } from '../../../lib/object/kinds.js';

const configMap: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'default' },
};

describe('usedRoles', () => {
  let cluster: EmbeddedCluster;
  beforeEach(async () => {
    cluster = await EmbeddedCluster.start();
  });
  afterEach(() => cluster.stop());

  it('returns for one user a Role per namespace, and a ClusterRole for requests without a namespace', async () => {
    const client = cluster.client({ user: 'operator' });
    await client.create(configMap);
    await client.get(ConfigMap, { name: 'a', namespace: 'default' });
    await client.list(Deployment, { namespace: 'default' });
    await client.list(Node);
    await cluster.client().list(ConfigMap);
    expect(usedRoles(cluster.requests.entries, { user: 'operator', name: 'op' })).to.deep.equal([
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'op' },
        rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'op', namespace: 'default' },
        rules: [
          { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] },
          { apiGroups: ['apps'], resources: ['deployments'], verbs: ['list'] },
        ],
      },
    ]);
  });

  it('returns rules with resourceNames if asked to, and omits names that a rule without names already allows', async () => {
    const client = cluster.client({ user: 'operator' });
    await client.create(configMap);
    await client.create({ ...configMap, metadata: { name: 'b', namespace: 'default' } });
    for (const name of ['a', 'b']) await client.get(ConfigMap, { name, namespace: 'default' });
    await client.delete(ConfigMap, { name: 'b', namespace: 'default' });
    const [named] = usedRoles(cluster.requests.entries, { user: 'operator', names: true });
    const rule = { apiGroups: [''], resources: ['configmaps'] };
    expect(named?.rules).to.deep.equal([
      { ...rule, verbs: ['create'] },
      { ...rule, resourceNames: ['a'], verbs: ['get'] },
      { ...rule, resourceNames: ['b'], verbs: ['get', 'delete'] },
    ]);
    const entries = cluster.requests.entries.map((entry) =>
      entry.verb === 'get' && entry.name === 'b' ? { ...entry, name: '' } : entry,
    );
    const [covered] = usedRoles(entries, { user: 'operator', names: true });
    expect(covered?.rules).to.deep.equal([
      { ...rule, verbs: ['get', 'create'] },
      { ...rule, resourceNames: ['b'], verbs: ['delete'] },
    ]);
  });

  it('omits from a Role what the ClusterRole grants, and returns only a ClusterRole with clusterWide', async () => {
    const client = cluster.client({ user: 'operator' });
    await client.list(ConfigMap);
    await client.list(ConfigMap, { namespace: 'default' });
    await client.create(configMap);
    const shown = (options: object) =>
      usedRoles(cluster.requests.entries, { user: 'operator', ...options }).map(
        ({ kind, rules }) => [kind, ...rules.flatMap(({ verbs }) => verbs)],
      );
    expect(shown({})).to.deep.equal([
      ['ClusterRole', 'list'],
      ['Role', 'create'],
    ]);
    expect(shown({ clusterWide: true })).to.deep.equal([['ClusterRole', 'list', 'create']]);
  });

  it('omits refused requests, but includes those that RBAC refused if the option denied is set', async () => {
    await cluster.client({ user: 'operator' }).list(Node);
    const [listed] = cluster.requests.entries;
    const refused = { ...listed!, denied: true as const, code: 403 };
    expect(usedRoles([refused])).to.deep.equal([]);
    const [role] = usedRoles([refused, { ...listed!, code: 401 }], { denied: true });
    expect(role?.rules).to.deep.equal([{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }]);
    expect(usedRoles([{ ...listed!, code: 401 }], { denied: true })).to.deep.equal([]);
  });

  it('includes the verb create if an apply created the object', async () => {
    const client = cluster.client({ user: 'operator' });
    await client.apply(configMap, { fieldManager: 'x' });
    const [role] = usedRoles(cluster.requests.entries, { user: 'operator' });
    expect(role?.rules[0]?.verbs).to.deep.equal(['create', 'patch']);
  });

  it('includes non-resource paths, except those that every client may read', async () => {
    const listening = await EmbeddedCluster.start({ port: 0 });
    try {
      for (const path of ['/metrics', '/version']) await fetch(new URL(path, listening.url));
      const [role] = usedRoles(listening.requests.entries);
      expect(role?.rules).to.deep.equal([{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]);
    } finally {
      await listening.stop();
    }
  });

  it('returns roles that allow the same requests on a server with RBAC', async () => {
    const run = async (on: EmbeddedCluster): Promise<void> => {
      const client = on.client({ user: 'operator' });
      await client.apply(configMap, { fieldManager: 'x' });
      await client.list(ConfigMap);
      await client.delete(ConfigMap, { name: 'a', namespace: 'default' });
    };
    await run(cluster);
    const text = usedRolesText(cluster.requests.entries, { user: 'operator', name: 'op' });
    const strict = await EmbeddedCluster.start({ rbac: true });
    try {
      const admin = strict.client();
      for (const document of parseAllDocuments(text)) {
        const role = document.toJS() as { kind: 'Role'; metadata: object };
        await admin.create(role as never);
        const binding = {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: `${role.kind}Binding`,
          metadata: role.metadata,
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: role.kind, name: 'op' },
          subjects: [{ kind: 'User', name: 'operator' }],
        };
        await admin.create(binding as never);
      }
      await run(strict);
      expect(strict.requests.count(({ denied }) => denied === true)).to.equal(0);
    } finally {
      await strict.stop();
    }
  });
});
