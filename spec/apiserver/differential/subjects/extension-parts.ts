import { patch, post } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

type Body = Readonly<Record<string, unknown>>;

const dry = '?dryRun=All';
const registration = '/apis/admissionregistration.k8s.io/v1';
const flowControl = '/apis/flowcontrol.apiserver.k8s.io/v1';
const access = '/apis/rbac.authorization.k8s.io/v1';
const services = '/apis/apiregistration.k8s.io/v1/apiservices';

/** Creates an object with each of `bodies`, without storing it. */
const tried = (path: string, bodies: readonly Body[], name = '{{ns}}-one'): Request[] =>
  bodies.map((body) => post(`${path}${dry}`, { metadata: { name }, ...body }));
const specsOf = (path: string, specs: readonly Body[], name?: string): Request[] =>
  tried(
    path,
    specs.map((spec) => ({ spec })),
    name,
  );

const rule = {
  ...{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
};

/** Lists of names with wildcards, and rules of webhooks and policies with them. */
const wildcards = [[], [''], ['*'], ['*', 'a'], ['a', '*'], ['a', 'a'], ['*', '*']];
const resources = [
  ...[
    [],
    [''],
    ['*'],
    ['*', 'a'],
    ['a', '*'],
    ['*/*'],
    ['*/*', 'a'],
    ['a/*', 'a/b'],
    ['a/b', 'a/*'],
  ],
  ...[
    ['*/b', 'a/b'],
    ['a/b', '*/b'],
    ['*', 'a/b'],
    ['*', '*/*'],
    ['a', '*', 'b/c'],
    ['*', 'b', '*'],
  ],
  ...[['/'], ['a/'], ['/b'], ['a/b/c'], ['*/*', '*/a'], ['a', 'b/*', '*']],
];
const rules: readonly Body[] = [
  ...wildcards.flatMap((names) => [
    { ...rule, apiGroups: names },
    { ...rule, apiVersions: names },
    { ...rule, operations: names },
  ]),
  ...['CREATE', 'UPDATE', 'DELETE', 'CONNECT', 'x', ''].map((operation) => ({
    ...{ ...rule, operations: [operation] },
  })),
  ...resources.map((names) => ({ ...rule, resources: names })),
  ...['*', 'Cluster', 'Namespaced', 'x', ''].map((scope) => ({ ...rule, scope })),
  {},
];
const namedRules: readonly Body[] = [
  ...rules,
  ...[['a'], [''], ['a', 'a'], ['a/b'], ['.'], ['%']].map((resourceNames) => ({
    ...rule,
    resourceNames,
  })),
];

const condition = { name: 'a', expression: 'true' };
const manyConditions = (length: number): readonly Body[] =>
  Array.from({ length }, (_, index) => ({ name: `n${index}`, expression: 'true' }));
const conditions: readonly (readonly Body[])[] = [
  ...[
    ...[
      {},
      { ...condition, name: '' },
      { ...condition, name: 'a b' },
      { ...condition, expression: '' },
    ],
    ...[
      '  ',
      ' true ',
      '1',
      'nope',
      'null',
      '"a"',
      'object.x',
      'dyn(1)',
      'params == null',
      '(',
      'variables.x',
    ].map((expression) => ({ name: 'a', expression })),
    ...['request.userInfo.username == "a"', 'oldObject == null', 'namespaceObject != null'].map(
      (expression) => ({
        ...{ name: 'a', expression },
      }),
    ),
    { name: 'a', expression: 'authorizer.group("").resource("pods").check("get").allowed()' },
  ].map((one) => [one]),
  [condition, condition],
  ...[64, 65].map(manyConditions),
];

const selectors: readonly Body[] = [
  ...[{ matchLabels: { 'a b': 'c' } }, { matchLabels: { a: 'b c' } }],
  ...['In', 'Exists', 'x'].flatMap((operator) =>
    [[], ['a']].map((values) => ({ matchExpressions: [{ key: 'k', operator, values }] })),
  ),
];

const matches: readonly Body[] = [
  ...['Exact', 'Equivalent', 'x', ''].map((matchPolicy) => ({ matchPolicy })),
  ...selectors.flatMap((selector) => [
    { namespaceSelector: selector },
    { objectSelector: selector },
  ]),
  ...namedRules.flatMap((one) => [{ resourceRules: [one] }, { excludeResourceRules: [one] }]),
  { resourceRules: [] },
];

const matchConstraints = { resourceRules: [rule] };
const annotation = { key: 'k', valueExpression: '"v"' };
const long = (size: number): string => `"${'a'.repeat(size - 2)}"`;

/** Parts that both types of policies have. */
const commonParts: readonly Body[] = [
  ...matches.map((match) => ({ matchConstraints: { ...matchConstraints, ...match } })),
  { matchConstraints: null },
  ...conditions.map((matchConditions) => ({ matchConditions })),
  ...['Fail', 'Ignore', 'x', ''].map((failurePolicy) => ({ failurePolicy })),
  ...[{}, { apiVersion: 'v1' }, { kind: 'ConfigMap' }].map((paramKind) => ({ paramKind })),
  ...['v1', 'a.b/v1', 'a/b/c', 'A.b/v1', 'a.b/', '/v1', 'a.b/V1', '1'].map((apiVersion) => ({
    paramKind: { apiVersion, kind: 'K' },
  })),
  ...['ConfigMap', 'config map', 'a.b', '1a'].map((kind) => ({
    paramKind: { apiVersion: 'v1', kind },
  })),
  {
    paramKind: { apiVersion: 'v1', kind: 'K' },
    matchConditions: [{ name: 'a', expression: 'params.x' }],
  },
  ...[
    ...[{}, { name: '' }, { name: ' ', expression: '1' }, { name: 'a b', expression: '1' }],
    ...['1a', '_a', 'a1', 'a-b', 'ä'].map((name) => ({ name, expression: '1' })),
    ...['', ' ', 'nope', '(', 'variables.b', 'object.x'].map((expression) => ({
      name: 'a',
      expression,
    })),
  ].map((variable) => ({ variables: [variable] })),
  {
    variables: [
      { name: 'a', expression: '1' },
      { name: 'b', expression: 'variables.a + 1' },
      { name: 'c', expression: 'variables.a + "x"' },
      { name: 'a', expression: '"x"' },
    ],
  },
];

const validations: readonly Body[] = [
  ...[
    {},
    { expression: '' },
    { expression: ' true ' },
    { expression: '1' },
    { expression: 'nope' },
  ],
  ...['', ' ', 'a', ' a\n', 'a\nb', 'a\rb'].map((message) => ({ expression: 'true', message })),
  ...[
    '',
    ' ',
    '"a"',
    ' "a" ',
    '1',
    'nope',
    'object.x',
    'authorizer.serviceAccount("a","b")',
    'string(variables.a)',
  ].map((messageExpression) => ({ expression: 'true', messageExpression })),
  ...['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized', 'x', ''].map((reason) => ({
    ...{ expression: 'true', reason },
  })),
];

const validating: readonly Body[] = [
  ...commonParts,
  ...validations.map((one) => ({
    ...{ validations: [one], variables: [{ name: 'a', expression: '1' }] },
  })),
  { validations: [] },
  { validations: [], auditAnnotations: [annotation] },
  ...[20, 21].map((length) => ({
    auditAnnotations: Array.from({ length }, (_, at) => ({ ...annotation, key: `k${at}` })),
  })),
  { auditAnnotations: [annotation, annotation] },
  ...[
    ...['', ' ', '1', 'null', '"a"', 'nope', 'variables.a', 'object.x'].map((valueExpression) => ({
      ...{ key: 'k', valueExpression },
    })),
    ...[5120, 5121].map((size) => ({ key: 'k', valueExpression: long(size) })),
    ...['', 'a b', 'a/b', 'A_b.c', 'k'.repeat(64)].map((key) => ({ ...annotation, key })),
  ].map((one) => ({ auditAnnotations: [one], variables: [{ name: 'a', expression: '1' }] })),
];

const jsonPatch = { expression: '[JSONPatch{op: "remove", path: "/metadata/labels"}]' };
const applyConfiguration = { expression: 'Object{metadata: Object.metadata{labels: {"a": "b"}}}' };
const mutations: readonly Body[] = [
  ...[{}, { patchType: '' }, { patchType: 'x' }, { patchType: 'JSONPatch' }],
  { patchType: 'ApplyConfiguration' },
  { patchType: 'JSONPatch', jsonPatch },
  { patchType: 'ApplyConfiguration', applyConfiguration },
  { patchType: 'JSONPatch', applyConfiguration },
  { patchType: 'ApplyConfiguration', jsonPatch },
  { patchType: 'JSONPatch', jsonPatch, applyConfiguration },
  { patchType: 'ApplyConfiguration', applyConfiguration, jsonPatch },
  ...[
    '',
    ' ',
    '1',
    'nope',
    '[]',
    'Object{}',
    '[JSONPatch{}]',
    'object',
    '[JSONPatch{op: 1}]',
    'Object{nope: 1}',
    'Object{metadata: 1}',
    'Object{metadata: Object.metadata{name: "a", labels: 1}}',
  ].flatMap((expression) => [
    { patchType: 'JSONPatch', jsonPatch: { expression } },
    { patchType: 'ApplyConfiguration', applyConfiguration: { expression } },
  ]),
  {
    patchType: 'JSONPatch',
    jsonPatch: {
      expression:
        '[JSONPatch{op: "add", path: "/a/" + jsonpatch.escapeKey("b/c"), value: variables.a}]',
    },
  },
];
const mutating: readonly Body[] = [
  ...commonParts,
  ...mutations.map((one) => ({
    ...{ mutations: [one], variables: [{ name: 'a', expression: '1' }] },
  })),
  ...[{ mutations: [] }, { reinvocationPolicy: '' }, { reinvocationPolicy: 'IfNeeded' }],
  { reinvocationPolicy: 'x' },
];

const references: readonly Body[] = [
  ...['', 'a', 'a/b', '.', 'A b'].flatMap((name) => [
    { name, parameterNotFoundAction: 'Deny' },
    { name, selector: {}, parameterNotFoundAction: 'Allow' },
  ]),
  ...selectors.map((selector) => ({ selector, parameterNotFoundAction: 'Deny' })),
  ...['', 'x', undefined].map((parameterNotFoundAction) => ({
    name: 'a',
    parameterNotFoundAction,
  })),
  { name: 'a', namespace: 'A!', parameterNotFoundAction: 'Deny' },
];
const bindings: readonly Body[] = [
  ...['', 'a', 'A!', 'a.b'].map((policyName) => ({ policyName })),
  ...references.map((paramRef) => ({ paramRef })),
  ...matches.map((matchResources) => ({ matchResources })),
];
const actions: readonly Body[] = [
  ...[[], ['Deny'], ['Warn', 'Audit'], ['Deny', 'Warn'], ['Deny', 'Deny'], ['x'], ['']].map(
    (validationActions) => ({
      ...{ policyName: 'p', validationActions },
    }),
  ),
];

const webhook = {
  ...{ name: 'a.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'] },
  clientConfig: { url: 'https://a' },
};
const webhooks: readonly Body[] = [
  ...rules.map((one) => ({ rules: [one] })),
  ...conditions.map((matchConditions) => ({ matchConditions })),
  ...selectors.flatMap((selector) => [
    { namespaceSelector: selector },
    { objectSelector: selector },
  ]),
  ...['', 'a', 'a.b', 'a.b.c', 'A.b.c', 'a b.c.d'].map((name) => ({ name })),
  ...[[], ['v1'], ['v1beta1'], ['v2'], ['v2', 'v1'], ['v1', 'v1'], ['V1']].map(
    (admissionReviewVersions) => ({
      admissionReviewVersions,
    }),
  ),
  ...[0, 1, 30, 31, -1].map((timeoutSeconds) => ({ timeoutSeconds })),
  ...['Fail', 'Ignore', 'x', ''].map((failurePolicy) => ({ failurePolicy })),
  ...['Exact', 'Equivalent', 'x', ''].map((matchPolicy) => ({ matchPolicy })),
  ...['Never', 'IfNeeded', 'x', ''].map((reinvocationPolicy) => ({ reinvocationPolicy })),
  ...[{}, { url: 'https://a', service: { name: 'a', namespace: 'b' } }, { service: {} }].map(
    (clientConfig) => ({
      clientConfig,
    }),
  ),
];

const level = { priorityLevelConfiguration: { name: 'global-default' } };
const user = { kind: 'User', user: { name: 'u' } };
const resourceRule = {
  ...{ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] },
};
const flowRules: readonly Body[] = [
  ...[{}, { subjects: [] }, { subjects: [user] }],
  ...[
    ...[
      { kind: 'x' },
      { kind: '' },
      { kind: 'User' },
      { kind: 'Group' },
      { kind: 'ServiceAccount' },
    ],
    ...[
      { kind: 'User', user: { name: '' } },
      { kind: 'Group', group: { name: '' } },
    ],
    ...[
      { ...user, group: { name: 'g' } },
      { ...user, serviceAccount: { name: 'a', namespace: 'b' } },
    ],
    ...['', '*', 'A!', 'a'].flatMap((name) => [
      { kind: 'ServiceAccount', serviceAccount: { name, namespace: 'b' } },
      { kind: 'ServiceAccount', serviceAccount: { name: 'a', namespace: name } },
    ]),
  ].map((subject) => ({ subjects: [subject], resourceRules: [resourceRule] })),
  ...[
    ...[[], ['*'], ['*', 'get'], ['x'], ['get', 'x'], ['get', 'deletecollection', 'proxy']].map(
      (verbs) => ({ verbs }),
    ),
    ...wildcards.flatMap((names) => [
      { apiGroups: names },
      { resources: names },
      { namespaces: names },
      { namespaces: names, clusterScope: true },
    ]),
    { namespaces: ['A!', 'a'] },
  ].map((more) => ({ subjects: [user], resourceRules: [{ ...resourceRule, ...more }] })),
  ...[
    ...[
      [],
      ['*'],
      ['*', '/'],
      ['/'],
      ['x'],
      [''],
      ['/a b'],
      ['/a//b'],
      ['/a/*'],
      ['/a*'],
      ['/*/*'],
      ['/a/b'],
    ].map((nonResourceURLs) => ({ nonResourceURLs })),
    { nonResourceURLs: ['/'], verbs: [] },
    { nonResourceURLs: ['/'], verbs: ['x'] },
  ].map((more) => ({ subjects: [user], nonResourceRules: [{ verbs: ['get'], ...more }] })),
];
const flows: readonly Body[] = [
  ...flowRules.map((one) => ({ ...level, rules: [one] })),
  ...[-1, 0, 1, 2, 10_000, 10_001].map((matchingPrecedence) => ({ ...level, matchingPrecedence })),
  ...['ByUser', 'ByNamespace', 'x', ''].map((type) => ({
    ...level,
    distinguisherMethod: { type },
  })),
  ...['', 'A!', 'a'].map((name) => ({ priorityLevelConfiguration: { name } })),
];

const queuing = { queues: 16, handSize: 4, queueLengthLimit: 10 };
const levels: readonly Body[] = [
  ...[{}, { type: '' }, { type: 'x' }, { type: 'Exempt' }, { type: 'Limited' }],
  ...[
    { type: 'Exempt', exempt: {} },
    { type: 'Exempt', limited: {} },
  ],
  { type: 'Limited', exempt: {}, limited: { limitResponse: { type: 'Reject' } } },
  ...[-1, 0, 100, 101].flatMap((lendablePercent) => [
    { type: 'Exempt', exempt: { lendablePercent } },
    { type: 'Limited', limited: { lendablePercent, limitResponse: { type: 'Reject' } } },
  ]),
  ...[-1, 0, 1].flatMap((shares) => [
    { type: 'Exempt', exempt: { nominalConcurrencyShares: shares } },
    {
      type: 'Limited',
      limited: { nominalConcurrencyShares: shares, limitResponse: { type: 'Reject' } },
    },
    {
      type: 'Limited',
      limited: { borrowingLimitPercent: shares, limitResponse: { type: 'Reject' } },
    },
  ]),
  ...[{}, { type: '' }, { type: 'x' }, { type: 'Queue' }, { type: 'Reject', queuing }].map(
    (limitResponse) => ({
      ...{ type: 'Limited', limited: { limitResponse } },
    }),
  ),
  ...[
    ...[
      {},
      { queues: 0 },
      { queues: -1 },
      { handSize: -1 },
      { queueLengthLimit: -1 },
      { queues: 3 },
    ],
    ...[
      { queues: 4 },
      { queues: 10_000_000 },
      { queues: 10_000_001 },
      { queues: 1024, handSize: 6 },
    ],
    ...[
      { queues: 1024, handSize: 7 },
      { queues: 1, handSize: 1 },
      { queues: 1, handSize: 2 },
    ],
  ].map((more) => ({
    ...{
      type: 'Limited',
      limited: { limitResponse: { type: 'Queue', queuing: { ...queuing, ...more } } },
    },
  })),
];

const policyRules: readonly Body[] = [
  ...[{}, { verbs: [] }, { verbs: ['get'] }, { verbs: ['get'], apiGroups: [''] }],
  ...[
    { verbs: ['get'], resources: ['pods'] },
    { verbs: ['get'], nonResourceURLs: ['/x'] },
  ],
  { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
  ...[{ apiGroups: [''] }, { resources: ['a'] }, { resourceNames: ['a'] }].map((more) => ({
    ...{ verbs: ['get'], nonResourceURLs: ['/x'], ...more },
  })),
];
const aggregations: readonly Body[] = [
  ...[{}, { clusterRoleSelectors: [] }, { clusterRoleSelectors: [{}] }],
  ...selectors.map((selector) => ({ clusterRoleSelectors: [selector] })),
];
const group = 'rbac.authorization.k8s.io';
const bindingParts: readonly Body[] = [
  ...['Role', 'ClusterRole', 'x', ''].map((kind) => ({
    roleRef: { apiGroup: group, kind, name: 'r' },
  })),
  ...['', 'x', group].map((apiGroup) => ({
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'r' },
  })),
  ...['', 'a:b', 'a/b', '..'].map((name) => ({
    roleRef: { apiGroup: group, kind: 'ClusterRole', name },
  })),
  ...[
    ...['User', 'Group', 'ServiceAccount', 'x', ''].flatMap((kind) => [
      { kind, name: '' },
      { kind, name: 'A!' },
      ...['', 'x', group].map((apiGroup) => ({ kind, name: 'a', apiGroup })),
      { kind, name: 'a', namespace: 'b' },
    ]),
  ].map((subject) => ({
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'r' },
    subjects: [subject],
  })),
];

const apiService = {
  ...{ group: '{{ns}}.example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 },
};
const apiServices: readonly Body[] = [
  ...[{}, { insecureSkipTLSVerify: true }, { caBundle: 'eA==' }, { group: '' }, { version: '' }],
  ...[{ group: '', version: 'v2' }, { group: 'A!' }, { version: 'V1' }],
  ...['groupPriorityMinimum', 'versionPriority'].flatMap((member) =>
    [-1, 0, 1000, 1001, 20_000, 20_001].map((value) => ({ [member]: value })),
  ),
  ...[{}, { name: 'a' }, { namespace: 'b' }, { name: 'a', namespace: 'b' }].map((service) => ({
    service,
  })),
  ...[0, 1, 65_535, 65_536].map((port) => ({ service: { name: 'a', namespace: 'b', port } })),
  { service: { name: 'a', namespace: 'b' }, insecureSkipTLSVerify: true, caBundle: 'eA==' },
  { service: { name: 'a', namespace: 'b' }, insecureSkipTLSVerify: true },
];

const bound = { policyName: 'p', validationActions: ['Deny'] };

/** Checks of the kinds that extend the server, admit requests, or share its capacity. */
export const extensionParts: readonly Scenario[] = [
  {
    title: 'validating policies',
    requests: specsOf(
      `${registration}/validatingadmissionpolicies`,
      validating.map((part) => ({
        matchConstraints,
        validations: [{ expression: 'true' }],
        ...part,
      })),
    ),
  },
  {
    title: 'mutating policies',
    requests: specsOf(
      `${registration}/mutatingadmissionpolicies`,
      mutating.map((part) => ({
        ...{ matchConstraints, reinvocationPolicy: 'Never' },
        mutations: [{ patchType: 'JSONPatch', jsonPatch }],
        ...part,
      })),
    ),
  },
  {
    title: 'bindings of validating policies',
    requests: specsOf(
      `${registration}/validatingadmissionpolicybindings`,
      [...bindings, ...actions].map((part) => ({ ...bound, ...part })),
    ),
  },
  {
    title: 'bindings of mutating policies',
    requests: specsOf(
      `${registration}/mutatingadmissionpolicybindings`,
      bindings.map((part) => ({ policyName: 'p', ...part })),
    ),
  },
  {
    title: 'parts of webhooks',
    requests: ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'].flatMap((list) =>
      tried(`${registration}/${list}`, [
        ...webhooks.map((part) => ({ webhooks: [{ ...webhook, ...part }] })),
        { webhooks: [webhook, webhook] },
      ]),
    ),
  },
  { title: 'flow schemas', requests: specsOf(`${flowControl}/flowschemas`, flows) },
  {
    title: 'priority levels',
    requests: specsOf(`${flowControl}/prioritylevelconfigurations`, levels),
  },
  {
    title: 'roles and their bindings',
    requests: [
      ...['clusterroles', 'namespaces/{{ns}}/roles'].flatMap((plural) =>
        tried(
          `${access}/${plural}`,
          policyRules.map((one) => ({ rules: [one] })),
        ),
      ),
      ...tried(
        `${access}/clusterroles`,
        aggregations.map((aggregationRule) => ({ aggregationRule })),
      ),
      ...['clusterrolebindings', 'namespaces/{{ns}}/rolebindings'].flatMap((plural) =>
        tried(`${access}/${plural}`, bindingParts),
      ),
      post(`${access}/namespaces/{{ns}}/rolebindings`, {
        metadata: { name: 'one' },
        ...bindingParts[0],
      }),
      patch('merge', `${access}/namespaces/{{ns}}/rolebindings/one`, {
        roleRef: { name: 'other' },
      }),
    ],
  },
  {
    title: 'specs of API services',
    requests: [
      ...specsOf(
        services,
        apiServices.map((part) => ({ ...apiService, ...part })),
        'v1.{{ns}}.example.com',
      ),
      ...['x', 'v2.{{ns}}.example.com', ''].flatMap((name) =>
        specsOf(services, [apiService], name),
      ),
    ],
  },
];
