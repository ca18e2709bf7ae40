import { expect } from 'chai';
import { Api, configMap, configMaps } from '../api.js';
import { AccessApi } from '../auth/access-api.js';
import { rule } from './webhook-api.js';

const base = '/apis/admissionregistration.k8s.io/v1';

describe('ValidatingAdmissionPolicies', () => {
  for (const action of ['Deny', 'Warn', 'Audit']) {
    it(`deny writes with the action ${action} if their parameters are missing`, async () => {
      const api = new Api();
      await api.create(`${base}/validatingadmissionpolicies`, {
        metadata: { name: 'p' },
        spec: {
          paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
          matchConstraints: { resourceRules: [rule()] },
          validations: [{ expression: 'true' }],
        },
      });
      const paramRef = { name: 'n', namespace: 'default', parameterNotFoundAction: 'Deny' };
      await api.create(`${base}/validatingadmissionpolicybindings`, {
        metadata: { name: 'b' },
        spec: { policyName: 'p', validationActions: [action], paramRef },
      });
      const { code, body, headers } = await api.call('POST', configMaps, configMap('a'));
      expect(code).to.equal(422);
      expect(body.message).to.equal(
        `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed to configure binding: no params found for policy binding with \`Deny\` parameterNotFoundAction`,
      );
      expect(headers).not.to.have.property('warning');
    });
  }

  const requested = 'authorizer.requestResource';
  const jobs = "authorizer.group('batch').resource('jobs').namespace('default')";
  const expressions: readonly (readonly [expression: string, value: boolean])[] = [
    [`${requested}.check('create').allowed()`, true],
    [`${requested}.check('delete').allowed()`, false],
    [`${requested}.check('create').reason().startsWith('RBAC: allowed by RoleBinding')`, true],
    [`${jobs}.check('get').allowed()`, true],
    [`${jobs}.name('b').subresource('status').check('get').allowed()`, true],
    [`${jobs}.name('c').subresource('status').check('get').allowed()`, false],
    [`${jobs}.fieldSelector('a=b').labelSelector('c').check('get').errored()`, false],
    [`${jobs}.check('get').error() == ''`, true],
    ["authorizer.group('batch').resource('jobs').check('get').allowed()", false],
    ["authorizer.path('/healthz').check('get').allowed()", true],
    ["authorizer.path('/metrics').check('get').allowed()", false],
    [
      `${jobs.replace('authorizer', "authorizer.serviceAccount('default', 'bot')")}.check('get').allowed()`,
      false,
    ],
    ['variables.may', true],
  ];
  for (const [expression, value] of expressions) {
    it(`check rights of the user: ${expression} is ${value}`, async () => {
      const server = new AccessApi();
      const rules = [
        { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
        { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get'] },
        { apiGroups: ['batch'], resources: ['jobs/status'], resourceNames: ['b'], verbs: ['get'] },
      ];
      await server.grant('maker', rules, { kind: 'User', name: 'alice' });
      await server.make(`${base}/validatingadmissionpolicies`, {
        metadata: { name: 'p' },
        spec: {
          matchConstraints: { resourceRules: [rule()] },
          variables: [{ name: 'may', expression: `${requested}.check('create').allowed()` }],
          validations: [{ expression: `(${expression}) == ${value}` }],
        },
      });
      await server.make(`${base}/validatingadmissionpolicybindings`, {
        metadata: { name: 'b' },
        spec: { policyName: 'p', validationActions: ['Deny'] },
      });
      const write = { method: 'POST', path: configMaps, object: configMap('a') } as const;
      const { code, body } = await server.as('alice-token', write);
      expect(code, body.message).to.equal(201);
    });
  }

  const failing: readonly (readonly [expression: string, problem: string])[] = [
    ["authorizer.path(' ').check('get')", 'path must not be empty'],
    ["authorizer.group('').resource('').check('get')", 'resource must not be empty'],
    [
      `authorizer.serviceAccount('a.b', 'bot').path('/').check('get')`,
      'Invalid service account namespace',
    ],
    [
      `authorizer.serviceAccount('a.b', 'B').path('/').check('get')`,
      'Invalid service account name',
    ],
    // The cost of one expression allows two checks.
    [
      "['/a', '/b', '/c'].map(path, authorizer.path(path).check('get'))[2]",
      'operation cancelled: actual cost limit exceeded',
    ],
  ];
  for (const [expression, problem] of failing) {
    it(`fail to check rights as on a real server: ${problem}`, async () => {
      const api = new Api();
      await api.create(`${base}/validatingadmissionpolicies`, {
        metadata: { name: 'p' },
        spec: {
          matchConstraints: { resourceRules: [rule()] },
          validations: [{ expression: `${expression}.allowed()` }],
        },
      });
      await api.create(`${base}/validatingadmissionpolicybindings`, {
        metadata: { name: 'b' },
        spec: { policyName: 'p', validationActions: ['Deny'] },
      });
      const { code, body } = await api.call('POST', configMaps, configMap('a'));
      expect(code).to.equal(422);
      expect(body.message).to.contain(problem);
    });
  }

  it('are refused if a messageExpression uses the authorizer, or an expression checks an unknown right', async () => {
    const api = new Api();
    const create = async (validation: object): Promise<string> => {
      const { code, body } = await api.call('POST', `${base}/validatingadmissionpolicies`, {
        metadata: { name: 'p' },
        spec: { matchConstraints: { resourceRules: [rule()] }, validations: [validation] },
      });
      expect(code).to.equal(422);
      return body.message;
    };
    const messageExpression = `${jobs}.check('get').reason()`;
    expect(await create({ expression: 'true', messageExpression })).to.contain(
      "undeclared reference to 'authorizer'",
    );
    expect(await create({ expression: "authorizer.check('get').allowed()" })).to.contain(
      "found no matching overload for 'check' applied to 'kubernetes.authorization.Authorizer.(string)'",
    );
  });
});
