import { expect } from 'chai';
import { Api, configMap, configMaps, deployments, merge } from '../api.js';
import { causeMessages } from '../causes.js';

const base = '/apis/admissionregistration.k8s.io/v1';

interface PolicyOptions {
  readonly resource?: string;
  readonly group?: string;
  readonly spec?: object;
  readonly binding?: object;
}

/** Returns a server with a policy `p` and its binding. */
async function withPolicy(
  mutations: readonly object[],
  { resource = 'configmaps', group = '', spec = {}, binding = {} }: PolicyOptions = {},
): Promise<Api> {
  const api = new Api();
  await addPolicy(api, 'p', mutations, { resource, group, spec, binding });
  return api;
}

async function addPolicy(
  api: Api,
  name: string,
  mutations: readonly object[],
  { resource = 'configmaps', group = '', spec = {}, binding = {} }: PolicyOptions = {},
): Promise<void> {
  const head = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name } };
  const operations = ['CREATE', 'UPDATE'];
  const rule = { apiGroups: [group], apiVersions: ['*'], resources: [resource], operations };
  await api.create(`${base}/mutatingadmissionpolicies`, {
    ...{ ...head, kind: 'MutatingAdmissionPolicy' },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      reinvocationPolicy: 'Never',
      mutations,
      ...spec,
    },
  });
  await api.create(`${base}/mutatingadmissionpolicybindings`, {
    ...{ ...head, kind: 'MutatingAdmissionPolicyBinding' },
    spec: { policyName: name, ...binding },
  });
}

function jsonPatch(expression: string): object {
  return { patchType: 'JSONPatch', jsonPatch: { expression } };
}

function applied(expression: string): object {
  return { patchType: 'ApplyConfiguration', applyConfiguration: { expression } };
}

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'app:1' }] },
    },
  },
};

describe('MutatingAdmissionPolicies', () => {
  it('patch objects by JSON patches', async () => {
    const api = await withPolicy([
      jsonPatch(`[JSONPatch{op: "add", path: "/metadata/annotations", value: {"a/b": "1"}},
        JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey("c/d"), value: object.metadata.name}]`),
    ]);
    const { body } = await api.call('POST', configMaps, configMap('a'));
    expect(body.metadata.annotations).to.deep.equal({ 'a/b': '1', 'c/d': 'a' });
  });

  it('merge configurations as server-side apply does', async () => {
    const api = await withPolicy(
      [
        applied(`Object{
          metadata: Object.metadata{labels: {"team": "shop"}},
          spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
            containers: [Object.spec.template.spec.containers{name: "side", image: "side:1"}]}}}}`),
      ],
      { resource: 'deployments', group: 'apps' },
    );
    const { body } = await api.call('POST', deployments, deployment);
    expect(body.metadata.labels).to.deep.equal({ team: 'shop' });
    const { template } = body['spec'] as typeof deployment.spec;
    expect(template.spec.containers.map(({ name }) => name)).to.deep.equal(['main', 'side']);
    expect(template.spec.containers[1]).to.include({ imagePullPolicy: 'IfNotPresent' });
  });

  it('apply their mutations in order, also to updates', async () => {
    const add = (value: string): object =>
      jsonPatch(
        `[JSONPatch{op: "add", path: "/data/log", value: (has(object.data) && "log" in object.data ? object.data.log : "") + "${value}"}]`,
      );
    const api = await withPolicy([add('a'), add('b')]);
    const { body } = await api.call('POST', configMaps, configMap('a', { log: '' }));
    expect(body['data']).to.deep.equal({ log: 'ab' });
    const updated = await api.call('PUT', `${configMaps}/a`, { ...body, data: { log: 'x' } });
    expect(updated.body['data']).to.deep.equal({ log: 'xab' });
  });

  it('evaluate match conditions, variables and parameters', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('settings', { team: 'shop' }));
    await addPolicy(
      api,
      'p',
      [jsonPatch('[JSONPatch{op: "add", path: "/data", value: {"team": variables.team}}]')],
      {
        spec: {
          paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
          variables: [{ name: 'team', expression: 'params.data.team' }],
          matchConditions: [{ name: 'named', expression: 'object.metadata.name != "b"' }],
        },
        binding: { paramRef: { name: 'settings', parameterNotFoundAction: 'Deny' } },
      },
    );
    const [a, b] = [
      await api.call('POST', configMaps, configMap('a')),
      await api.call('POST', configMaps, configMap('b')),
    ];
    expect(a.body['data']).to.deep.equal({ team: 'shop' });
    expect(b.body['data']).to.deep.equal(undefined);
  });

  it('run again if a later policy changed the object and their reinvocationPolicy is IfNeeded', async () => {
    const api = new Api();
    const copy = jsonPatch(
      'has(object.data) && "b" in object.data ? [JSONPatch{op: "add", path: "/data/copy", value: object.data.b}] : []',
    );
    await addPolicy(api, 'a', [copy], { spec: { reinvocationPolicy: 'IfNeeded' } });
    await addPolicy(api, 'b', [jsonPatch('[JSONPatch{op: "add", path: "/data/b", value: "1"}]')]);
    const { body } = await api.call('POST', configMaps, configMap('x', { a: '0' }));
    expect(body['data']).to.deep.equal({ a: '0', b: '1', copy: '1' });
  });

  it('run again after a later policy changed the object only if they applied the first time', async () => {
    const api = new Api();
    const grow = jsonPatch(
      '[JSONPatch{op: "replace", path: "/data/k", value: object.data.k + "+"}]',
    );
    const add = jsonPatch('[JSONPatch{op: "add", path: "/data/late", value: "1"}]');
    const matchConditions = [{ name: 'late', expression: 'object.data.k != "v"' }];
    const reinvocationPolicy = 'IfNeeded';
    await addPolicy(api, 'a', [add], { spec: { reinvocationPolicy, matchConditions } });
    await addPolicy(api, 'b', [grow], { spec: { reinvocationPolicy } });
    const { body } = await api.call('POST', configMaps, configMap('x', { k: 'v' }));
    expect(body['data']).to.deep.equal({ k: 'v++' });
  });

  const add = (path: string, value: string): string =>
    `JSONPatch{op: "add", path: "${path}", value: ${value}}`;
  const nothing = `[${add('/x', 'object.nothing')}]`;
  const failures: readonly (readonly [mutation: object, problem: string])[] = [
    [
      jsonPatch(`[${add('/data/a/b', '"1"')}]`),
      'JSON Patch: add operation does not apply: doc is missing path: "/data/a/b": missing value',
    ],
    [
      jsonPatch('[JSONPatch{op: "remove", path: "/data/a"}]'),
      'JSON Patch: operation 0: /data/a: /data does not exist',
    ],
    [
      jsonPatch('[JSONPatch{op: "none", path: "/data/a"}]'),
      'JSON Patch: operation 0: unknown op "none"',
    ],
    [jsonPatch(nothing), `expression '${nothing}' resulted in error: no such key: nothing`],
    [
      jsonPatch(`[${add('/data', '1')}]`),
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string',
    ],
    [jsonPatch(`[${add('/data', 'b"x"')}]`), 'the value has no JSON form'],
    [jsonPatch(`[${add('/data', '{1: 2}')}]`), 'a key of a map is not a string'],
    [
      applied('Object{data: Object.wrong{}}'),
      'type mismatch: unexpected type name "Object.wrong", expected "Object.data", which matches field name path from root Object type',
    ],
    [
      applied('Object{metadata: Object.metadata{finalizers: [Object.metadata.wrong{}]}}'),
      'type mismatch: unexpected type name "Object.metadata.wrong", expected "Object.metadata.finalizers", which matches field name path from root Object type',
    ],
    [
      applied('Object{metadata: Object.metadata{labels: {1: "a"}}}'),
      'a key of a map is not a string',
    ],
  ];
  for (const [mutation, problem] of failures) {
    it(`refuse the write if ${JSON.stringify(mutation)} fails`, async () => {
      const api = await withPolicy([mutation]);
      const { code, body } = await api.call('POST', configMaps, configMap('a'));
      const message = `policy 'p' with binding 'p' denied request: ${problem}`;
      const details = { name: 'a', kind: 'configmaps', causes: [{ message }] };
      expect(code).to.equal(403);
      expect(body).to.deep.equal({
        ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
        ...{ message, reason: 'Invalid', details, code },
      });
    });
  }

  it('refuse the write if a condition fails to evaluate', async () => {
    const matchConditions = [{ name: 'a', expression: '1/0 == 1' }];
    for (const [failurePolicy, expected] of [
      ['Ignore', undefined],
      [
        'Fail',
        "policy 'p' with binding 'p' denied request: expression '1/0 == 1' resulted in error: division by zero",
      ],
    ]) {
      const api = await withPolicy([jsonPatch(`[${add('/data', '{"a": "b"}')}]`)], {
        spec: { matchConditions, failurePolicy },
      });
      const { body } = await api.call('POST', configMaps, configMap('a'));
      expect([body.message, body['data']]).to.deep.equal([expected, undefined]);
    }
  });

  it('skip a JSON patch whose test operation fails, and run the next mutation', async () => {
    const test = 'JSONPatch{op: "test", path: "/data/a", value: "2"}';
    const api = await withPolicy([
      jsonPatch(`[${add('/data/b', '"1"')}, ${test}]`),
      jsonPatch(`[${add('/data/c', '"1"')}]`),
    ]);
    const { code, body } = await api.call('POST', configMaps, configMap('x', { a: '1' }));
    expect([code, body['data']]).to.deep.equal([201, { a: '1', c: '1' }]);
  });

  it('leave apiVersion and kind of a built-in object unchanged if a patch removes them', async () => {
    for (const member of ['kind', 'apiVersion']) {
      const api = await withPolicy([jsonPatch(`[JSONPatch{op: "remove", path: "/${member}"}]`)]);
      const { code, body } = await api.call('POST', configMaps, configMap('a'));
      expect([code, body.kind, body.apiVersion]).to.deep.equal([201, 'ConfigMap', 'v1']);
    }
  });

  it('are checked when they are written', async () => {
    const api = new Api();
    const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
    const constraints = { resourceRules: [{ ...rule, operations: ['DELETE'] }] };
    const problems = causeMessages(
      await api.call('POST', `${base}/mutatingadmissionpolicies`, {
        ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingAdmissionPolicy' },
        metadata: { name: 'p' },
        spec: {
          matchConstraints: constraints,
          mutations: [
            { patchType: 'applyConfiguration', applyConfiguration: { expression: 'Object{}' } },
            { patchType: 'JSONPatch', applyConfiguration: { expression: 'Object{}' } },
            jsonPatch('Object{}'),
            jsonPatch('[JSONPatch{kind: "add"}]'),
            applied('Other{}'),
            jsonPatch('[JSONPatch{toString: "add"}]'),
          ],
        },
      }),
    );
    const compileErrors = [
      'spec.mutations[3].jsonPatch',
      'spec.mutations[4].applyConfiguration',
      'spec.mutations[5].jsonPatch',
    ];
    const [unknownField, unknownType, inherited] = compileErrors.map(
      (path) => problems[`${path}.expression`],
    );
    expect(unknownField).to.include(
      "ERROR: <input>:1:16: expected type of field 'kind' is '' but provided type is 'string'",
    );
    expect(unknownType).to.include("undeclared reference to 'Other'");
    expect(inherited).to.include("expected type of field 'toString' is ''");
    for (const path of compileErrors) Reflect.deleteProperty(problems, `${path}.expression`);
    expect(problems).to.deep.equal({
      'spec.matchConstraints.resourceRules.operations':
        'Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
      'spec.mutations[0].patchType':
        'Unsupported value: "applyConfiguration": supported values: "ApplyConfiguration", "JSONPatch"',
      'spec.mutations[1].jsonPatch':
        'Required value: must be specified when patchType is JSONPatch',
      'spec.mutations[1].applyConfiguration':
        'Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
      'spec.mutations[2].jsonPatch.expression':
        'Invalid value: "Object{}": must evaluate to list(JSONPatch) but got Object',
      'spec.reinvocationPolicy': 'Required value',
    });
    const binding = await api.call('POST', `${base}/mutatingadmissionpolicybindings`, {
      ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingAdmissionPolicyBinding' },
      ...{ metadata: { name: 'p' }, spec: {} },
    });
    expect(causeMessages(binding)).to.deep.equal({ 'spec.policyName': 'Required value' });
  });

  it('report all failures, each as a cause', async () => {
    const broken = jsonPatch('[JSONPatch{op: "add", path: "/x", value: object.nothing}]');
    const api = await withPolicy([broken, broken]);
    const { body } = await api.call('POST', configMaps, configMap('a'));
    const { causes, name, kind } = body['details'] as Record<string, unknown>;
    expect({ name, kind }).to.deep.equal({ name: 'a', kind: 'configmaps' });
    expect(causes).to.deep.equal([{ message: body.message }, { message: body.message }]);
  });

  it('fail if a patch changes the type of the object', async () => {
    for (const [member, before] of Object.entries({ kind: 'ConfigMap', apiVersion: 'v1' })) {
      const patch = `[JSONPatch{op: "replace", path: "/${member}", value: "other"}]`;
      const api = await withPolicy([jsonPatch(patch)]);
      const { code, body } = await api.call('POST', configMaps, configMap('a'));
      expect(code).to.equal(403);
      expect(body.message).to.contain(
        `denied request: JSON Patch: changed the ${member} of the object from ${before} to "other"`,
      );
    }
  });

  it('refuse apply configurations that set an atomic map', async () => {
    const selector = 'Object.spec.selector{matchLabels: {"a": "b"}}';
    const api = await withPolicy([applied(`Object{spec: Object.spec{selector: ${selector}}}`)], {
      ...{ resource: 'deployments', group: 'apps' },
    });
    const { body } = await api.call('POST', deployments, deployment);
    expect(body.message).to.contain(
      'invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector',
    );
  });

  it('ignore failures with failurePolicy Ignore', async () => {
    const spec = { failurePolicy: 'Ignore' };
    const api = await withPolicy([jsonPatch('[JSONPatch{op: "add", path: "/x/y", value: 1}]')], {
      spec,
    });
    expect((await api.call('POST', configMaps, configMap('a'))).code).to.equal(201);
  });

  it('ignore missing parameters with failurePolicy Ignore', async () => {
    const api = await withPolicy([jsonPatch('[JSONPatch{op: "remove", path: "/data"}]')], {
      spec: { failurePolicy: 'Ignore', paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } },
      binding: { paramRef: { name: 'none', namespace: 'other', parameterNotFoundAction: 'Deny' } },
    });
    await addPolicy(api, 'q', [jsonPatch('[JSONPatch{op: "add", path: "/data/b", value: "2"}]')]);
    const { code, body } = await api.call('POST', configMaps, configMap('a', { a: '1' }));
    expect([code, body['data']]).to.deep.equal([201, { a: '1', b: '2' }]);
  });

  it('can change the options of pods/exec requests and the bodies of pods/binding requests', async () => {
    const api = new Api();
    const rule = { apiGroups: [''], apiVersions: ['*'], operations: ['CONNECT', 'CREATE'] };
    const rules = (resource: string) => ({
      spec: { matchConstraints: { resourceRules: [{ ...rule, resources: [resource] }] } },
    });
    const command = jsonPatch('[JSONPatch{op: "replace", path: "/command", value: ["true"]}]');
    await addPolicy(api, 'a', [command], rules('pods/exec'));
    await addPolicy(api, 'b', [applied('Object{stdout: true}')], rules('pods/exec'));
    const target = jsonPatch('[JSONPatch{op: "replace", path: "/target/name", value: "second"}]');
    await addPolicy(api, 'c', [target], rules('pods/binding'));
    const head = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: 'seen' } };
    const { spec } = rules('pods/exec');
    const messageExpression =
      'object.container + " " + object.command.join(" ") + string(object.stdout)';
    await api.create(`${base}/validatingadmissionpolicies`, {
      ...{ ...head, kind: 'ValidatingAdmissionPolicy' },
      spec: { ...spec, validations: [{ expression: 'false', messageExpression }] },
    });
    await api.create(`${base}/validatingadmissionpolicybindings`, {
      ...{ ...head, kind: 'ValidatingAdmissionPolicyBinding' },
      spec: { policyName: 'seen', validationActions: ['Deny'] },
    });
    const pods = '/api/v1/namespaces/default/pods';
    const containers = [{ name: 'main', image: 'db:1' }];
    await api.create(pods, { metadata: { name: 'db' }, spec: { containers } });
    const { body } = await api.call('POST', `${pods}/db/exec?command=ls&container=main`);
    expect(body.message).to.match(/denied request: main truetrue$/);
    await api.create(`${pods}/db/binding`, { metadata: { name: 'db' }, target: { name: 'first' } });
    const bound = await api.get(`${pods}/db`);
    expect(bound.body['spec']).to.include({ nodeName: 'second' });
  });

  it('fail for the Scale of a custom resource, which a real server cannot convert', async () => {
    const api = new Api();
    const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
    const version = { name: 'v1', served: true, storage: true, subresources: { scale } };
    await api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'shops.acme.com' },
      spec: {
        ...{ group: 'acme.com', scope: 'Namespaced', names: { plural: 'shops', kind: 'Shop' } },
        versions: [{ ...version, schema: { openAPIV3Schema } }],
      },
    });
    const patch = jsonPatch('[JSONPatch{op: "replace", path: "/spec/replicas", value: 7}]');
    await addPolicy(api, 'p', [patch], { resource: 'shops/scale', group: 'acme.com' });
    await addPolicy(api, 'q', [patch], { resource: 'deployments/scale', group: 'apps' });
    const shops = '/apis/acme.com/v1/namespaces/default/shops';
    const shop = { apiVersion: 'acme.com/v1', kind: 'Shop', metadata: { name: 'web' } };
    await api.create(shops, { ...shop, spec: { replicas: 1 } });
    await api.create(deployments, deployment);
    const scaled = (path: string) =>
      api.call('PATCH', `${path}/web/scale`, { spec: { replicas: 2 } }, merge);
    const { code, body } = await scaled(shops);
    expect([code, body.message]).to.deep.equal([
      403,
      "policy 'p' with binding 'p' denied request: request to convert CR to an invalid group/version: autoscaling/v1",
    ]);
    expect((await scaled(deployments)).body['spec']).to.deep.equal({ replicas: 7 });
  });

  it('do nothing without a binding that matches', async () => {
    const binding = { matchResources: { objectSelector: { matchLabels: { a: 'b' } } } };
    const api = await withPolicy([jsonPatch('[JSONPatch{op: "remove", path: "/data"}]')], {
      binding,
    });
    const { body } = await api.call('POST', configMaps, configMap('a', { a: '1' }));
    expect(body['data']).to.deep.equal({ a: '1' });
  });
});
