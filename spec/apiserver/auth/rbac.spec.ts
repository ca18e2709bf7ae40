import { expect } from 'chai';
import { configMaps } from '../api.js';
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

  it('applies new and removed bindings from the next request', async () => {
    const server = new AccessApi();
    await server.grant('reader', reading, alice);
    expect((await server.as('alice-token', { path: configMaps })).code).to.equal(200);
    const binding = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings/reader';
    await server.as('admin-token', { method: 'DELETE', path: binding });
    expect((await server.as('alice-token', { path: configMaps })).code).to.equal(403);
  });

  it('keeps a watch open when its permission is removed, and answers 403 to the next one', async () => {
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

  it('names the bindings that it could not resolve when it refuses to grant rights', async () => {
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
    const { Api } = await import('../api.js');
    const api = new Api({ users: { token: 'jane' } });
    const answer = await api.get(configMaps, { authorization: 'Bearer token' });
    expect(answer.code).to.equal(200);
    expect(
      (await api.get('/apis/rbac.authorization.k8s.io/v1/clusterroles')).body.items,
    ).to.deep.equal([]);
  });
});
