import { expect } from 'chai';
import { Api, configMap, configMaps } from '../api.js';
import { AccessApi } from '../auth/access-api.js';
import { rule } from './webhook-api.js';

const base = '/apis/admissionregistration.k8s.io/v1';

/** Returns a server with a policy `p` for every write of ConfigMaps and Namespaces, and its binding `b`. */
async function withPolicy(spec: object, binding: object = {}): Promise<Api> {
  const api = new Api();
  const resourceRules = [rule({ resources: ['configmaps', 'namespaces'] })];
  await api.create(`${base}/validatingadmissionpolicies`, {
    metadata: { name: 'p' },
    spec: { matchConstraints: { resourceRules }, validations: [{ expression: 'true' }], ...spec },
  });
  await api.create(`${base}/validatingadmissionpolicybindings`, {
    metadata: { name: 'b' },
    spec: { policyName: 'p', validationActions: ['Deny'], ...binding },
  });
  return api;
}

const denied = (name: string, why: string): string =>
  `${name} is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${why}`;

describe('ValidatingAdmissionPolicies', () => {
  for (const action of ['Deny', 'Warn', 'Audit']) {
    it(`deny writes with the action ${action} if their parameters are missing`, async () => {
      const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
      const paramRef = { name: 'n', namespace: 'default', parameterNotFoundAction: 'Deny' };
      const api = await withPolicy({ paramKind }, { validationActions: [action], paramRef });
      const { code, body, headers } = await api.call('POST', configMaps, configMap('a'));
      expect(code).to.equal(422);
      expect(body.message).to.equal(
        denied(
          'configmaps "a"',
          'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
        ),
      );
      expect(headers).not.to.have.property('warning');
    });
  }

  const paramRef = { name: 'x', parameterNotFoundAction: 'Allow' };
  const params = (apiVersion: string, kind: string) => ({ paramKind: { apiVersion, kind } });
  const unusable: readonly (readonly [
    why: string,
    spec: object,
    paramRef: object,
    path?: string,
  ])[] = [
    ['paramKind kind `acme.com/v1, Kind=Nope` not known', params('acme.com/v1', 'Nope'), paramRef],
    [
      'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
      params('v1', 'Namespace'),
      { ...paramRef, namespace: 'default' },
    ],
    [
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
      params('v1', 'ConfigMap'),
      paramRef,
      '/api/v1/namespaces',
    ],
  ];
  for (const [why, spec, paramRef, path = configMaps] of unusable) {
    it(`deny writes whose parameters cannot be read: ${why}`, async () => {
      const api = await withPolicy(spec, { paramRef });
      const { code, body } = await api.call('POST', path, { metadata: { name: 'a' } });
      const name = path === configMaps ? 'configmaps "a"' : 'namespaces "a"';
      const message = denied(name, `failed to configure binding: ${why}`);
      expect([code, body.message]).to.deep.equal([422, message]);
    });
  }

  it('take parameters from a cluster-scoped object, and from each object that the selector of the binding matches', async () => {
    const validations = [
      { expression: 'false', messageExpression: 'string(params.metadata.name)' },
    ];
    const spec = { ...params('v1', 'Namespace'), validations };
    const one = await withPolicy(spec, { paramRef: { ...paramRef, name: 'kube-public' } });
    expect((await one.call('POST', configMaps, configMap('a'))).body.message).to.equal(
      denied('configmaps "a"', 'kube-public'),
    );
    const selector = { matchLabels: { chosen: 'yes' } };
    const selecting = { parameterNotFoundAction: 'Allow', selector };
    const many = await withPolicy(spec, { paramRef: selecting, validationActions: ['Warn'] });
    for (const name of ['m', 'n', 'o']) {
      const labels = { chosen: name === 'n' ? 'no' : 'yes' };
      await many.create('/api/v1/namespaces', { metadata: { name, labels } });
    }
    const { code, headers } = await many.call('POST', configMaps, configMap('a'));
    const warnings = ['m', 'o'].map(
      (name) =>
        `299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': ${name}"`,
    );
    expect([code, headers['warning']]).to.deep.equal([201, warnings.join(', ')]);
  });

  const divided = "expression '1/0 == 1' resulted in error: division by zero";
  const unsound = { name: 'a', expression: '1/0 == 1' };
  const message = ' said ';
  const refusals: readonly (readonly [
    spec: object,
    code: number,
    why?: string,
    reason?: string,
  ])[] = [
    [{ validations: [{ expression: '1/0 == 1' }] }, 422, divided],
    [{ validations: [{ expression: '1/0 == 1' }], failurePolicy: 'Ignore' }, 201],
    [{ matchConditions: [unsound] }, 422, divided],
    [{ matchConditions: [unsound], failurePolicy: 'Ignore' }, 201],
    [
      { matchConditions: [unsound, { name: 'b', expression: 'object.x == 1' }] },
      422,
      `[${divided}, expression 'object.x == 1' resulted in error: no such key: x]`,
    ],
    [{ matchConditions: [unsound, { name: 'b', expression: 'false' }] }, 201],
    [
      {
        variables: [{ name: 'v', expression: '1/0' }],
        validations: [{ expression: 'variables.v == 1' }],
      },
      422,
      'expression \'variables.v == 1\' resulted in error: composited variable "v" fails to evaluate: division by zero',
    ],
    [{ validations: [{ expression: ' false ' }] }, 422, 'failed expression: false'],
    [{ validations: [{ expression: 'false', message }] }, 422, 'said'],
    [
      { validations: [{ expression: 'false', message, messageExpression: '" " + " own "' }] },
      422,
      'own',
    ],
    [{ validations: [{ expression: 'false', message, messageExpression: '" "' }] }, 422, 'said'],
    [
      { validations: [{ expression: 'false', message, messageExpression: '"x\\ny"' }] },
      422,
      'said',
    ],
    [
      { validations: [{ expression: 'false', message, messageExpression: 'string(1/0)' }] },
      422,
      'said',
    ],
    [
      { validations: [{ expression: 'false', message, reason: 'Forbidden' }] },
      403,
      'said',
      'Forbidden',
    ],
    [
      { validations: [{ expression: 'false', message, reason: 'RequestEntityTooLarge' }] },
      413,
      'said',
      'RequestEntityTooLarge',
    ],
  ];
  for (const [spec, code, why, reason = 'Invalid'] of refusals) {
    it(`refuse a write with ${code} if a policy has ${JSON.stringify(spec)}`, async () => {
      const api = await withPolicy(spec);
      const answer = await api.call('POST', configMaps, configMap('a'));
      expect(answer.code).to.equal(code);
      if (why === undefined) return;
      const message = denied('configmaps "a"', why);
      const causes = [{ message: message.replace('configmaps "a" is forbidden: ', '') }];
      const details = { name: 'a', kind: 'configmaps', causes };
      expect(answer.body).to.deep.equal({
        ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
        ...{ message, reason, details, code },
      });
    });
  }

  it('add a warning for a failed expression with the action Warn, and none with Audit', async () => {
    const validations = [{ expression: 'false', message }];
    const warned = async (...validationActions: readonly string[]) => {
      const api = await withPolicy({ validations }, { validationActions });
      const { code, headers } = await api.call('POST', configMaps, configMap('a'));
      return [code, headers['warning']];
    };
    const warning =
      "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': said\"";
    expect(await warned('Audit')).to.deep.equal([201, undefined]);
    expect(await warned('Warn', 'Audit')).to.deep.equal([201, warning]);
    expect(await warned('Deny', 'Audit')).to.deep.equal([422, undefined]);
  });

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
    it(`can check the rights of the user: ${expression} is ${value}`, async () => {
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
    // The cost limit of an expression allows two checks, and this one has three.
    [
      "['/a', '/b', '/c'].map(path, authorizer.path(path).check('get'))[2]",
      'operation cancelled: actual cost limit exceeded',
    ],
  ];
  for (const [expression, problem] of failing) {
    it(`refuse the write if an expression cannot check rights: ${problem}`, async () => {
      const checked = `${expression}.allowed()`;
      const api = await withPolicy({ validations: [{ expression: checked }] });
      const { code, body } = await api.call('POST', configMaps, configMap('a'));
      expect(code).to.equal(422);
      expect(body.message).to.equal(
        denied('configmaps "a"', `expression '${checked}' resulted in error: ${problem}`),
      );
    });
  }

  it('are invalid if a messageExpression uses the authorizer, or if an expression checks an unknown right', async () => {
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
