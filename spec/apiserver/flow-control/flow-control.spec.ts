import { expect } from 'chai';
import { EmbeddedApiServer } from '../../../lib/apiserver/internal.js';
import { flowControlSuite } from './suite.js';

const token = 'secret';
const flowSchema = {
  ...{ group: 'flowcontrol.apiserver.k8s.io', version: 'v1', kind: 'FlowSchema' },
  ...{ plural: 'flowschemas', namespaced: false },
};

flowControlSuite('the embedded server', async () => {
  const users = { [token]: { name: 'admin', groups: ['system:masters'] } };
  const server = new EmbeddedApiServer({ users, rbac: true });
  const url = await server.listen();
  return { url, token, stop: () => server.stop() };
});

describe('a request with an unknown token', () => {
  it('is answered 401, and matches no FlowSchema', async () => {
    const server = new EmbeddedApiServer({ users: {}, rbac: true });
    const headers = { authorization: 'Bearer wrong' };
    const answer = await server.handle({ method: 'GET', path: '/api/v1/pods', headers });
    expect(answer.status).to.equal(401);
    expect(answer.headers).to.not.have.property('x-kubernetes-pf-flowschema-uid');
    await server.stop();
  });
});

describe('a FlowSchema', () => {
  let server: EmbeddedApiServer;
  before(() => {
    const users = { [token]: { name: 'admin', groups: ['system:masters'] } };
    server = new EmbeddedApiServer({ users, rbac: true });
  });
  afterEach(() => server.loopback.delete(flowSchema, { name: 'spec' }));
  after(() => server.stop());

  const api = '/apis/flowcontrol.apiserver.k8s.io/v1';
  const robot = { username: 'system:serviceaccount:ci:robot', groups: ['system:serviceaccounts'] };
  const jane = { username: 'jane', groups: ['devs'] };
  const account = (namespace: string, name: string) => ({
    ...{ kind: 'ServiceAccount', serviceAccount: { namespace, name } },
  });
  const group = (name: string) => ({ kind: 'Group', group: { name } });
  const user = (name: string) => ({ kind: 'User', user: { name } });
  const all = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] };
  const resource = (more: object) => ({ resourceRules: [{ ...all, ...more }] });
  const path = (verb: string, url: string) => ({
    ...{ resourceRules: [], nonResourceRules: [{ verbs: [verb], nonResourceURLs: [url] }] },
  });
  const pods = '/api/v1/namespaces/ci/pods';
  const deployments = '/apis/apps/v1/namespaces/ci/deployments';

  const cases: readonly (readonly [
    rule: object,
    asker: { readonly username: string; readonly groups: readonly string[] },
    request: string,
    applies: boolean,
  ])[] = [
    [{ subjects: [user('jane')] }, jane, pods, true],
    [{ subjects: [user('*')] }, jane, pods, true],
    [{ subjects: [user('jim')] }, jane, pods, false],
    [{ subjects: [group('devs')] }, jane, pods, true],
    [{ subjects: [group('*')] }, jane, pods, true],
    [{ subjects: [group('ops')] }, jane, pods, false],
    [{ subjects: [user('jim'), group('devs')] }, jane, pods, true],
    [{ subjects: [account('ci', 'robot')] }, robot, pods, true],
    [{ subjects: [account('ci', '*')] }, robot, pods, true],
    [{ subjects: [account('ci', 'other')] }, robot, pods, false],
    [{ subjects: [account('c', '*')] }, robot, pods, false],
    [{ subjects: [account('ci', '*')] }, jane, pods, false],
    [resource({ verbs: ['list'] }), jane, pods, true],
    [resource({ verbs: ['get'] }), jane, pods, false],
    [resource({ verbs: ['get'] }), jane, `${pods}/a`, true],
    [resource({ resources: ['pods', 'nodes'] }), jane, pods, true],
    [resource({ resources: ['pods'] }), jane, `${pods}/a/status`, false],
    [resource({ resources: ['pods/status'] }), jane, `${pods}/a/status`, true],
    [resource({ apiGroups: [''] }), jane, pods, true],
    [resource({ apiGroups: [''] }), jane, deployments, false],
    [resource({ apiGroups: ['apps'] }), jane, deployments, true],
    [resource({ namespaces: ['ci'] }), jane, pods, true],
    [resource({ namespaces: ['other'] }), jane, pods, false],
    [resource({}), jane, '/api/v1/pods', false],
    [resource({ clusterScope: true }), jane, '/api/v1/pods', true],
    [resource({ clusterScope: true, namespaces: [] }), jane, pods, false],
    [resource({}), jane, '/version', false],
    [path('get', '/version'), jane, '/version', true],
    [path('*', '*'), jane, '/version', true],
    [path('patch', '/version'), jane, '/version', false],
    [path('get', '/vers'), jane, '/version', false],
    [path('get', '/openapi/*'), jane, '/openapi/v3', true],
    [path('get', '/openapi/*'), jane, '/openapis', false],
    [path('get', '*'), jane, pods, false],
  ];
  for (const [rule, { username, groups }, request, applies] of cases) {
    const shown = JSON.stringify(rule);
    it(`with ${shown} ${applies ? 'applies' : 'does not apply'} to GET ${request} of ${username}`, async () => {
      const authorization = `Bearer ${token}`;
      const subjects = [user('*')];
      const rules = [{ subjects, ...resource({}), ...rule }];
      const priorityLevelConfiguration = { name: 'workload-low' };
      const spec = { priorityLevelConfiguration, matchingPrecedence: 1_000, rules };
      const body = JSON.stringify({ metadata: { name: 'spec' }, spec });
      const headers = { authorization, 'content-type': 'application/json' };
      const made = await server.handle({
        method: 'POST',
        path: `${api}/flowschemas`,
        headers,
        body,
      });
      expect(made.status).to.equal(201);
      const own = server.loopback.get(flowSchema, { name: 'spec' })!.metadata.uid;
      const asking = { authorization, 'impersonate-user': username };
      const grouped = { ...asking, 'impersonate-group': groups.join(', ') };
      const answer = await server.handle({ method: 'GET', path: request, headers: grouped });
      const chosen = answer.headers['x-kubernetes-pf-flowschema-uid'];
      expect(chosen).to.be.a('string');
      expect(chosen === own).to.equal(applies);
    });
  }
});
