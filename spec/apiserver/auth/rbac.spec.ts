import { expect } from 'chai';
import { Api, configMaps } from '../api.js';
import { AccessApi } from './access-api.js';

const reading = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }];
const alice = { kind: 'User', name: 'alice' };

describe('RBAC', () => {
  it('answers 401 to an unknown token, and 403 without permission', async () => {
    const server = new AccessApi();
    const path = configMaps;
    expect((await server.as('no-token', { path })).code).to.equal(401);
    const { code, body } = await server.as('alice-token', { path });
    expect([code, body.message]).to.deep.equal([
      403,
      'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "default"',
    ]);
    expect((await server.as('', { path })).body.message).to.contain('User "system:anonymous"');
    expect((await server.as('admin-token', { path })).code).to.equal(200);
  });

  it('applies added and removed bindings from the next request', async () => {
    const server = new AccessApi();
    await server.grant('reader', reading, alice);
    expect((await server.as('alice-token', { path: configMaps })).code).to.equal(200);
    const binding = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings/reader';
    await server.as('admin-token', { method: 'DELETE', path: binding });
    expect((await server.as('alice-token', { path: configMaps })).code).to.equal(403);
  });

  it('keeps a watch open when its permission is removed, and answers 403 to the next watch', async () => {
    const server = new AccessApi();
    await server.grant('reader', reading, alice);
    const transport = server.api.server.transport('alice');
    const path = `${configMaps}?watch=true`;
    const watch = await transport.request({ method: 'GET', path, headers: {}, streaming: true });
    const role = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/reader';
    await server.as('admin-token', { method: 'DELETE', path: role });
    await server.make(configMaps, { metadata: { name: 'later' } });
    const chunk = await watch.body[Symbol.asyncIterator]().next();
    expect(new TextDecoder().decode(chunk.value as Uint8Array)).to.contain('"later"');
    const again = await transport.request({ method: 'GET', path, headers: {}, streaming: true });
    expect(again.status).to.equal(403);
    await server.api.server.stop();
  });

  it('aggregates the rules of ClusterRoles', async () => {
    const server = new AccessApi();
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const rule = { apiGroups: ['acme.com'], resources: ['shops'], verbs: ['get'] };
    await server.make(path, { metadata: { name: 'shops', labels }, rules: [rule] });
    for (const name of ['view', 'edit', 'admin']) {
      const { body } = await server.as('admin-token', { path: `${path}/${name}` });
      expect(body['rules'], name).to.deep.include(rule);
    }
    await server.as('admin-token', { method: 'DELETE', path: `${path}/shops` });
    const { body } = await server.as('admin-token', { path: `${path}/admin` });
    expect(body['rules']).not.to.deep.include(rule);
  });

  it('names the bindings that refer to a missing role when it refuses to grant rights', async () => {
    const server = new AccessApi();
    const group = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    const apiGroup = 'rbac.authorization.k8s.io';
    await server.grant('maker', [{ apiGroups: ['*'], resources: ['*'], verbs: ['create'] }], alice);
    const refusal = async (): Promise<string> => {
      const object = { metadata: { name: 'more' }, rules: reading };
      const request = { method: 'POST', path: `${group}/roles`, object } as const;
      const { code, body } = await server.as('alice-token', request);
      expect(code).to.equal(403);
      return body.message;
    };
    const bind = (name: string): Promise<object> => {
      const roleRef = { apiGroup, kind: 'Role', name };
      return server.make(`${group}/rolebindings`, {
        metadata: { name },
        roleRef,
        subjects: [alice],
      });
    };
    expect(await refusal()).to.not.contain('resolution errors');
    await bind('lost');
    const lost = 'role.rbac.authorization.k8s.io "lost" not found';
    expect(await refusal()).to.contain(`; resolution errors: [${lost}]`);
    await bind('gone');
    const gone = 'role.rbac.authorization.k8s.io "gone" not found';
    expect(await refusal()).to.contain(`; resolution errors: [[${gone}, ${lost}]]`);
  });

  it('authorizes impersonation of users and groups', async () => {
    const server = new AccessApi();
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const ask = { method: 'POST', path, object: {} } as const;
    const headers = { 'impersonate-user': 'bob' };
    const refused = await server.as('alice-token', { ...ask, headers });
    expect(refused.body.message).to.equal(
      'users "bob" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope',
    );
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const rules = [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'] }];
    await server.make(`${rbac}/clusterroles`, { metadata: { name: 'imp' }, rules });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'imp' };
    const binding = { metadata: { name: 'imp' }, roleRef, subjects: [alice] };
    await server.make(`${rbac}/clusterrolebindings`, binding);
    const allowed = await server.as('alice-token', { ...ask, headers });
    expect(allowed.body['status']).to.deep.equal({
      userInfo: { username: 'bob', groups: ['system:authenticated'] },
    });
    const groups = { ...headers, 'impersonate-group': 'devs' };
    expect((await server.as('alice-token', { ...ask, headers: groups })).code).to.equal(403);
  });

  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const review = { method: 'POST', path, object: {} } as const;
  const account = 'system:serviceaccount:default:robot';
  const impersonations: readonly (readonly [headers: Record<string, string>, user: object])[] = [
    [{ 'impersonate-user': 'bob' }, { username: 'bob', groups: ['system:authenticated'] }],
    [
      {
        'Impersonate-User': 'b\u00c3\u00b6b',
        'impersonate-group': 'devs, ops',
        'impersonate-uid': '7',
      },
      { username: 'böb', uid: '7', groups: ['devs', 'ops', 'system:authenticated'] },
    ],
    [
      { 'impersonate-user': 'bob', 'impersonate-group': 'system:unauthenticated' },
      { username: 'bob', groups: ['system:unauthenticated'] },
    ],
    [
      { 'impersonate-user': 'system:anonymous', 'impersonate-group': 'devs' },
      { username: 'system:anonymous', groups: ['devs', 'system:unauthenticated'] },
    ],
    [
      { 'impersonate-user': 'system:anonymous', 'impersonate-group': 'system:unauthenticated' },
      { username: 'system:anonymous', groups: ['system:unauthenticated'] },
    ],
    [
      { 'impersonate-user': account },
      {
        username: account,
        groups: [
          ...['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
        ],
      },
    ],
    [
      { 'impersonate-user': account, 'impersonate-group': 'devs' },
      { username: account, groups: ['devs', 'system:authenticated'] },
    ],
    [
      {
        ...{ 'impersonate-user': 'bob', 'Impersonate-Extra-Acme.com%2FTeam': 'a, b' },
        'impersonate-extra-100%': 'c',
      },
      {
        ...{ username: 'bob', groups: ['system:authenticated'] },
        extra: { 'acme.com/team': ['a', 'b'], '100%': ['c'] },
      },
    ],
  ];
  for (const [headers, user] of impersonations) {
    it(`impersonates the user of ${JSON.stringify(headers)}`, async () => {
      // The server has no RBAC, so that unauthenticated users may create the review.
      const api = new Api({ users: { token: 'root' } });
      const own = { authorization: 'Bearer token', 'content-type': 'application/json' };
      const answer = await api.raw({
        method: 'POST',
        path,
        headers: { ...own, ...headers },
        body: '{}',
      });
      let text = '';
      for await (const chunk of answer.body) text += new TextDecoder().decode(chunk);
      const { status } = JSON.parse(text) as { readonly status: object };
      expect(status).to.deep.equal({ userInfo: user });
    });
  }

  const nobody = 'without impersonating a user name';
  const info = (uid: string, groups: string, extra: string) =>
    `requested &user.DefaultInfo{Name:"", UID:"${uid}", Groups:${groups}, Extra:map[string][]string${extra}} ${nobody}`;
  for (const [headers, message] of [
    [{ 'impersonate-uid': '7' }, info('7', '[]string(nil)', '(nil)')],
    [{ 'impersonate-group': 'a, b' }, info('', '[]string{"a", "b"}', '(nil)')],
    [
      { 'impersonate-extra-k': 'a, b', 'impersonate-extra-l': 'c' },
      info('', '[]string(nil)', '{"k":[]string{"a", "b"}, "l":[]string{"c"}}'),
    ],
  ] as const) {
    it(`refuses ${JSON.stringify(headers)} ${nobody}`, async () => {
      const { code, body } = await new AccessApi().as('admin-token', { ...review, headers });
      expect([code, body.message]).to.deep.equal([400, message]);
    });
  }

  it('authorizes each header of an impersonation, and a ServiceAccount in its namespace', async () => {
    const server = new AccessApi();
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const rules = [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'] }];
    await server.make(`${rbac}/clusterroles`, { metadata: { name: 'imp' }, rules });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'imp' };
    const binding = { metadata: { name: 'imp' }, roleRef, subjects: [alice] };
    await server.make(`${rbac}/clusterrolebindings`, binding);
    const refusal = async (headers: Record<string, string>): Promise<string> => {
      const user = { 'impersonate-user': 'bob', ...headers };
      const { code, body } = await server.as('alice-token', { ...review, headers: user });
      expect(code).to.equal(403);
      return body.message;
    };
    const cannot = (what: string, resource: string, group = '', where = 'at the cluster scope') => {
      const prefix = group === '' ? '' : `.${group}`;
      const plural = `${resource.split('/')[0]}${prefix}`;
      return `${plural} "${what}" is forbidden: User "alice" cannot impersonate resource "${resource}" in API group "${group}" ${where}`;
    };
    const authentication = 'authentication.k8s.io';
    expect(await refusal({ 'impersonate-group': 'devs' })).to.equal(cannot('devs', 'groups'));
    expect(await refusal({ 'impersonate-uid': '7' })).to.equal(cannot('7', 'uids', authentication));
    expect(await refusal({ 'impersonate-extra-k': 'a' })).to.equal(
      cannot('a', 'userextras/k', authentication),
    );
    expect(await refusal({ 'impersonate-user': account })).to.equal(
      cannot('robot', 'serviceaccounts', '', 'in the namespace "default"'),
    );
  });

  it('allows a list or a watch that selects the only object that a rule names', async () => {
    const server = new AccessApi();
    const verbs = ['list', 'deletecollection'];
    const named = { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs };
    await server.grant('named', [named], alice);
    const codes: Record<string, number> = {};
    for (const query of ['', '=a', '=b', '!=a', '=a,metadata.namespace=default']) {
      const selector =
        query === '' ? '' : `?fieldSelector=metadata.name${encodeURIComponent(query)}`;
      codes[query] = (await server.as('alice-token', { path: configMaps + selector })).code;
    }
    expect(codes).to.deep.equal({
      ...{ '': 403, '=a': 200, '=b': 403, '!=a': 403, '=a,metadata.namespace=default': 200 },
    });
    const all = `${configMaps}?fieldSelector=metadata.name%3Da`;
    expect((await server.as('alice-token', { method: 'DELETE', path: all })).code).to.equal(403);
    const malformed = await server.as('alice-token', { path: `${configMaps}?fieldSelector=a` });
    expect(malformed.code).to.equal(403);
  });

  it('answers a SelfSubjectRulesReview of an administrator with all resources and all paths', async () => {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
    const object = { spec: { namespace: 'default' } };
    const { body } = await new AccessApi().as('admin-token', { method: 'POST', path, object });
    expect(body['status']).to.deep.equal({
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      incomplete: false,
    });
  });

  it('marks refused requests in the request log', async () => {
    const server = new AccessApi();
    await server.as('alice-token', { path: configMaps });
    const { user, code, denied } = server.api.server.requests.entries.at(-1)!;
    expect({ user, code, denied }).to.deep.equal({ user: 'alice', code: 403, denied: true });
  });

  it('is off by default, so that all requests are allowed', async () => {
    const api = new Api({ users: { token: 'jane' } });
    const answer = await api.get(configMaps, { authorization: 'Bearer token' });
    expect(answer.code).to.equal(200);
    expect(
      (await api.get('/apis/rbac.authorization.k8s.io/v1/clusterroles')).body.items,
    ).to.deep.equal([]);
  });
});
