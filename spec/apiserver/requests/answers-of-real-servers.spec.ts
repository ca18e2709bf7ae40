import { expect } from 'chai';
import { Api, configMaps, deployments, jsonPatch, merge, strategic } from '../api.js';
import type { Answer } from '../api.js';
import { causeMessages } from '../causes.js';

// Answers of the real server (v1.36).

const core = '/api/v1/namespaces/default';
const template = {
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'i' }] },
};
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const volume = {
  ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
  hostPath: { path: '/a' },
};
const once = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } };

const policyField = 'spec.template.spec.securityContext.seLinuxChangePolicy';
const policies = 'Unsupported value: "x": supported values: "MountOption", "Recursive"';
const withPolicy = (seLinuxChangePolicy: string) => ({
  ...template,
  spec: { ...template.spec, securityContext: { seLinuxChangePolicy } },
});

/** An object, a patch of its spec, and the causes of the refusal, or none if it is accepted. */
const updates: readonly (readonly [
  string,
  string,
  object,
  object,
  Readonly<Record<string, string>>,
])[] = [
  [
    'refuse a later deadline of a Pod',
    `${core}/pods`,
    { ...template.spec, activeDeadlineSeconds: 5 },
    { activeDeadlineSeconds: 9 },
    {
      'spec.activeDeadlineSeconds':
        'Invalid value: 9: must be less than or equal to previous value',
    },
  ],
  [
    'keep the tolerations that admission adds to a Pod',
    `${core}/pods`,
    template.spec,
    { tolerations: [] },
    {},
  ],
  [
    'give a class to a claim without one',
    `${core}/persistentvolumeclaims`,
    claim,
    { storageClassName: 'x' },
    {},
  ],
  [
    'refuse another source of a volume',
    '/api/v1/persistentvolumes',
    volume,
    { hostPath: { path: '/b' } },
    {
      'spec.persistentvolumesource':
        'Forbidden: spec.persistentvolumesource is immutable after creation\n',
    },
  ],
  [
    'refuse address families of a Service of the type ExternalName',
    `${core}/services`,
    { type: 'ExternalName', externalName: 'x.y' },
    { ipFamilyPolicy: 'SingleStack' },
    { 'spec.ipFamilyPolicy': 'Forbidden: may not be set for ExternalName services' },
  ],
  ...(['MountOption', 'x'] as const).map(
    (seLinuxChangePolicy) =>
      [
        `${seLinuxChangePolicy === 'x' ? 'refuse' : 'accept'} ${seLinuxChangePolicy} in place of another policy`,
        '/apis/apps/v1/namespaces/default/deployments',
        {
          selector: { matchLabels: template.metadata.labels },
          template: withPolicy('Recursive'),
        },
        { template: withPolicy(seLinuxChangePolicy) },
        seLinuxChangePolicy === 'x' ? { [policyField]: policies } : {},
      ] as const,
  ),
  [
    'show a refused empty list of scopes as []',
    `${core}/resourcequotas`,
    { hard: { pods: '1' }, scopes: ['BestEffort'] },
    { scopes: [] },
    { 'spec.scopes': 'Invalid value: []: field is immutable' },
  ],
  [
    'report only the missing selector of a Job, and not its labels',
    '/apis/batch/v1/namespaces/default/jobs',
    { template: once },
    { selector: null },
    {
      'spec.selector': 'Invalid value: null: field is immutable',
    },
  ],
];

/** A request to a server with the ConfigMap `a`, its status, and its message. */
const requests: readonly (readonly [string, (api: Api) => Promise<Answer>, number, string?])[] = [
  [
    'a body of another known kind',
    (api) => api.call('POST', configMaps, { kind: 'Secret', metadata: { name: 'b' } }),
    400,
    'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  ],
  [
    'a kind that is a number',
    (api) => api.call('POST', configMaps, { kind: 5 }),
    400,
    `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5})`,
  ],
  [
    'a byte order mark',
    (api) => api.call('POST', configMaps, '\u{feff}{}'),
    400,
    `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character 'ï' looking for beginning of value (efbbbf7b7d)`,
  ],
  [
    'a merge patch that is null',
    (api) => api.call('PATCH', `${configMaps}/a`, 'null', merge),
    400,
    'Invalid JSON Patch',
  ],
  [
    'a strategic patch that is null',
    (api) => api.call('PATCH', `${configMaps}/a`, 'null', strategic),
    200,
  ],
  [
    'a JSON patch that removes the version',
    (api) =>
      api.call('PATCH', `${configMaps}/a`, [{ op: 'remove', path: '/apiVersion' }], jsonPatch),
    400,
    'the name of the object (a based on URL) was undeterminable: name must be provided',
  ],
  [
    'a field selector with an empty field and an empty value',
    (api) => api.get(`${configMaps}?fieldSelector=metadata.name%3Da,%3D`),
    200,
  ],
  [
    'a field manager with a character that cannot be printed',
    (api) => api.call('PATCH', `${configMaps}/a?fieldManager=%07`, {}, merge),
    422,
    'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "\\a": invalid character U+0007 (at position 0)',
  ],
  [
    'a deletion with orphanDependents false',
    (api) => api.call('DELETE', `${configMaps}/a`, { orphanDependents: false }),
    202,
  ],
  [
    'a precondition on a Namespace',
    (api) => api.call('DELETE', '/api/v1/namespaces/default', { preconditions: { uid: 'x' } }),
    409,
  ],
  [
    'a request for a media type that is not served',
    (api) => api.get(`${configMaps}/a`, { accept: 'text/html' }),
    406,
    '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  ],
  [
    'a path below a collection of reviews',
    (api) => api.call('POST', '/apis/authentication.k8s.io/v1/tokenreviews/a', {}),
    404,
  ],
];

describe('the embedded server, like a real one,', () => {
  for (const [title, path, spec, change, causes] of updates) {
    it(`updates: ${title}`, async () => {
      const api = new Api();
      await api.create(path, { metadata: { name: 'a' }, spec });
      const answer = await api.call('PATCH', `${path}/a`, { spec: change }, merge);
      expect(answer.code, answer.text).to.equal(Object.keys(causes).length === 0 ? 200 : 422);
      expect(answer.code === 200 ? {} : causeMessages(answer)).to.include(causes);
    });
  }

  for (const [title, send, code, message] of requests) {
    it(`answers ${code} to ${title}`, async () => {
      const api = new Api();
      await api.create(configMaps, { metadata: { name: 'a', finalizers: ['a/b'] } });
      const answer = await send(api);
      expect(answer.code, answer.text).to.equal(code);
      if (message !== undefined) expect(answer.body.message).to.equal(message);
    });
  }

  it('stores an empty list as null, and records its field manager', async () => {
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const role = await new Api().create(path, { metadata: { name: 'a' }, rules: [] });
    expect(role['rules']).to.equal(null);
    expect(role.metadata.managedFields?.[0]?.fieldsV1).to.deep.equal({ 'f:rules': {} });
  });

  it('sets the generation of a CSIDriver at the first change, not at creation', async () => {
    const api = new Api();
    const path = '/apis/storage.k8s.io/v1/csidrivers';
    const created = await api.create(path, { metadata: { name: 'a' }, spec: {} });
    const change = { spec: { requiresRepublish: true } };
    const { body } = await api.call('PATCH', `${path}/a`, change, merge);
    expect([created.metadata.generation, body.metadata.generation]).to.deep.equal([undefined, 1]);
  });

  for (const [title, path, spec] of [
    ['a claim', `${core}/persistentvolumeclaims`, claim],
    [
      'a Job without labels in its template',
      '/apis/batch/v1/namespaces/default/jobs',
      { template: { spec: once.spec } },
    ],
  ] as const) {
    it(`stores ${title} again at its first update without changes, because reads add defaults`, async () => {
      const api = new Api();
      const made = await api.create(path, { metadata: { name: 'a' }, spec });
      const versions = [made.metadata.resourceVersion];
      for (let n = 0; n < 2; n++) {
        const { body } = await api.call('PATCH', `${path}/a`, {}, merge);
        expect(body).to.deep.equal({
          ...made,
          metadata: { ...made.metadata, resourceVersion: body.metadata.resourceVersion },
        });
        versions.push(body.metadata.resourceVersion);
      }
      expect(versions.map((version) => versions.indexOf(version))).to.deep.equal([0, 1, 1]);
    });
  }

  it('drops the configSource of a Node without a warning', async () => {
    const api = new Api();
    const configSource = { configMap: { name: 'a' } };
    const body = { metadata: { name: 'n' }, spec: { configSource } };
    const created = await api.call('POST', '/api/v1/nodes', body);
    const updated = await api.call('PATCH', '/api/v1/nodes/n', { spec: { configSource } }, merge);
    for (const answer of [created, updated]) {
      expect(answer.body['spec']).to.not.have.property('configSource');
      expect(answer.headers).to.not.have.property('warning');
    }
  });

  it('shows the scale of a workload as a table', async () => {
    const api = new Api();
    const path = '/apis/apps/v1/namespaces/default/deployments';
    const spec = { replicas: 2, selector: { matchLabels: { app: 'a' } }, template };
    await api.create(path, { metadata: { name: 'a' }, spec });
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const { body } = await api.get(`${path}/a/scale`, { accept });
    expect(body).to.have.nested.property('rows[0].cells').that.deep.equals(['a', 2, 0, '0s']);
  });

  it('treats names such as constructor and __proto__ as unknown names', async () => {
    const api = new Api();
    const item = { type: 'Container', min: { cpu: '1' }, max: { cpu: '2' } };
    const limits = [{ ...item, maxLimitRequestRatio: { constructor: '2' } }];
    const path = '/api/v1/namespaces/default/limitranges';
    const refused = await api.call('POST', path, { metadata: { name: 'a' }, spec: { limits } });
    expect(refused.code).to.equal(422);
    for (const accept of ['constructor', '__proto__']) {
      expect((await api.get('/apis', { accept })).code).to.equal(406);
    }
  });

  it('reads booleans, octal numbers and merge keys in YAML as YAML 1.1 defines them', async () => {
    const api = new Api();
    const text = 'metadata: {<<: {name: a}}\nimmutable: yes\nbinaryData: {}\ndata: {a: "on"}\n';
    const made = await api.call('POST', configMaps, text, 'application/yaml');
    expect(made.body).to.deep.include({ immutable: true, data: { a: 'on' } });
    const spec = JSON.stringify({ selector: { matchLabels: { app: 'a' } }, template });
    const applied = `metadata: {name: a}\nspec: {replicas: 010, ${spec.slice(1)}\n`;
    const { body } = await api.call('POST', deployments, applied, 'application/yaml');
    expect(body['spec']).to.include({ replicas: 8 });
  });

  it('omits fields without a value in YAML, as in JSON', async () => {
    const api = new Api();
    await api.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'a' } });
    const { status, body } = await api.raw({
      method: 'POST',
      path: '/api/v1/namespaces/default/serviceaccounts/a/token',
      headers: { 'content-type': 'application/json', accept: 'application/yaml' },
      body: '{}',
    });
    let text = '';
    for await (const chunk of body) text += new TextDecoder().decode(chunk);
    expect(status).to.equal(201);
    expect(text)
      .to.match(/^kind: TokenRequest$/m)
      .and.not.include('undefined');
  });

  it('sorts field names in YAML by the numbers in them', async () => {
    const api = new Api();
    const sorted = ['a-', 'a1', 'a01', 'a001', 'a2', 'a02', 'a10', 'a12', 'a100', 'ab'];
    const data = Object.fromEntries(sorted.toReversed().map((name) => [name, 'x']));
    await api.create(configMaps, { metadata: { name: 'c' }, data });
    const { text } = await api.get(`${configMaps}/c`, { accept: 'application/yaml' });
    expect(text.match(/(?<=^ {2}).*(?=: x$)/gm)).to.deep.equal(sorted);
  });
});
