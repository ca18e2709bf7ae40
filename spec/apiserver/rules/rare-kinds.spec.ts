import { expect } from 'chai';
import { withoutMembers } from '../../../lib/object/json.js';
import { collectionOf, sampleKinds, sampleObject } from '../differential/kinds.js';
import { Api, apply, merge } from '../api.js';
import { causeFields, causeMessages } from '../causes.js';
import { crds, installed } from '../custom/widgets.js';

type Fields = Readonly<Record<string, unknown>>;

/** Returns the problems of the sample of a kind with other fields. */
async function problemsOf(kind: string, fields: Fields): Promise<Record<string, string>> {
  const sample = sampleKinds.find((one) => one.kind === kind);
  if (sample === undefined) throw new Error(`no sample of ${kind}`);
  const inDefault = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value).replaceAll('{{ns}}', 'default'));
  const object = inDefault(sampleObject(sample, { name: sample.name ?? 'one' })) as Fields;
  const path = String(inDefault(collectionOf(sample)));
  return causeMessages(await new Api().call('POST', path, { ...object, ...fields }));
}

const pem = '-----BEGIN CERTIFICATE REQUEST-----\neA==\n-----END CERTIFICATE REQUEST-----';
const signingRequest = {
  ...{ request: Buffer.from(pem).toString('base64'), signerName: 'example.com/s' },
  usages: ['client auth'],
};

const label = { apiGroups: ['a.b'], apiVersions: ['v1'], operations: ['CREATE'] };

const refused: readonly [string, Fields, Readonly<Record<string, string>>][] = [
  [
    'FlowSchema',
    { spec: { matchingPrecedence: 1, priorityLevelConfiguration: {}, rules: [{}] } },
    {
      'spec.matchingPrecedence':
        "Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
      'spec.priorityLevelConfiguration.name': 'Required value: must reference a priority level',
      'spec.rules[0].subjects': 'Required value: subjects must contain at least one value',
      'spec.rules[0]':
        'Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
    },
  ],
  [
    'PriorityLevelConfiguration',
    { spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue' } }, exempt: {} } },
    {
      'spec.exempt': 'Forbidden: must be nil if the type is Limited',
      'spec.limited.limitResponse.queuing':
        'Required value: must not be empty if limited.limitResponse.type is Limited',
    },
  ],
  [
    'CSIDriver',
    {
      spec: {
        ...{ fsGroupPolicy: 'Some', nodeAllocatableUpdatePeriodSeconds: 9 },
        tokenRequests: [{ audience: 'a', expirationSeconds: 1 }, { audience: 'a' }],
      },
    },
    {
      'spec.fsGroupPolicy':
        'Unsupported value: "Some": supported values: "File", "None", "ReadWriteOnceWithFSType"',
      'spec.nodeAllocatableUpdatePeriodSeconds':
        'Invalid value: 9: must be greater than or equal to 10 seconds',
      'spec.tokenRequests[0].expirationSeconds':
        'Invalid value: 1: may not specify a duration less than 10 minutes',
      'spec.tokenRequests[1].audience': 'Duplicate value: "a"',
    },
  ],
  [
    'CSINode',
    { spec: { drivers: [{ name: 'd', nodeID: '', allocatable: { count: -1 } }] } },
    {
      'spec.drivers[0].nodeID': 'Required value',
      'spec.drivers[0].allocatable.count': 'Invalid value: -1: must be greater than or equal to 0',
    },
  ],
  [
    'VolumeAttachment',
    { spec: { attacher: '', nodeName: 'n', source: {} } },
    {
      'spec.attacher': 'Required value',
      'spec.source':
        'Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
    },
  ],
  [
    'VolumeAttributesClass',
    { parameters: {} },
    { parameters: 'Required value: must contain at least one key/value pair' },
  ],
  [
    'PersistentVolume',
    {
      spec: {
        ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
        ...{ iscsi: { targetPortal: '', iqn: 'x', lun: 300 }, cephfs: {} },
      },
    },
    {
      'spec.iscsi.targetPortal': 'Required value',
      'spec.iscsi.iqn': 'Invalid value: "x": must be valid format',
      'spec.iscsi.lun': 'Invalid value: 300: must be between 0 and 255, inclusive',
      'spec.cephFS': 'Forbidden: may not specify more than 1 volume type',
    },
  ],
  [
    'PersistentVolumeClaim',
    {
      spec: {
        ...{ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        dataSourceRef: { kind: 'Other', name: '' },
      },
    },
    {
      'spec.dataSource': `Invalid value: "Other": must be 'PersistentVolumeClaim' when referencing the default apiGroup`,
      'spec.dataSource.name': 'Required value',
      'spec.dataSourceRef': `Invalid value: "Other": must be 'PersistentVolumeClaim' when referencing the default apiGroup`,
      'spec.dataSourceRef.name': 'Required value',
    },
  ],
  [
    'Node',
    { spec: { taints: [{ key: 'k', effect: '' }] } },
    { 'metadata.taints[0].effect': 'Required value' },
  ],
  [
    'Node',
    { spec: { podCIDRs: ['', '10.0.0.1/24'] } },
    {
      'spec.podCIDRs[0]':
        'Invalid value: "": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      'spec.podCIDRs[1]':
        'Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length',
      'spec.podCIDRs':
        'Invalid value: ["","10.0.0.1/24"]: may specify no more than one CIDR for each IP family',
    },
  ],
  [
    'HorizontalPodAutoscaler',
    {
      spec: {
        ...{ scaleTargetRef: { apiVersion: 'apps/v1', kind: 'D', name: 'd' }, maxReplicas: 3 },
        metrics: [
          {
            type: 'ContainerResource',
            containerResource: {
              ...{ name: 'requests.cpu', container: '-' },
              target: { type: 'Utilization', averageUtilization: 5 },
            },
          },
        ],
      },
    },
    {
      'spec.metrics[0].containerResource.name':
        'Invalid value: "requests.cpu": must be a standard resource for containers',
      'spec.metrics[0].containerResource.container':
        "Invalid value: \"-\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    },
  ],
  [
    'RuntimeClass',
    { scheduling: { tolerations: [{ key: 'k', effect: 'x' }] } },
    {
      'scheduling.tolerations[0].effect':
        'Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    },
  ],
  [
    'ResourceQuota',
    {
      spec: { scopeSelector: { matchExpressions: [{ scopeName: 'BestEffort', operator: 'In' }] } },
    },
    {
      'spec.scopeSelector.matchExpressions.operator':
        'Invalid value: "In": must be \'Exists\' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity',
      'spec.scopeSelector.matchExpressions.values':
        "Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
    },
  ],
  [
    'ValidatingAdmissionPolicy',
    {
      spec: {
        matchConstraints: { resourceRules: [{ ...label, resources: ['pods/*', 'pods/log'] }] },
        validations: [{ expression: '1', message: ' ' }],
      },
    },
    {
      'spec.matchConstraints.resourceRules[0].resources[1]': `Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log`,
      'spec.validations[0].expression': 'Invalid value: "1": must evaluate to bool but got int',
      'spec.validations[0].message': 'Invalid value: " ": must be non-empty if specified',
    },
  ],
  [
    'ValidatingAdmissionPolicy',
    {
      spec: {
        ...{ matchConstraints: { resourceRules: [{ ...label, resources: ['pods'] }] } },
        variables: [{ name: 'size', expression: '1' }],
        validations: [{ expression: 'variables.size' }, { expression: 'params.ok' }],
      },
    },
    {
      'spec.validations[0].expression':
        'Invalid value: "variables.size": must evaluate to bool but got int',
      'spec.validations[1].expression': `Invalid value: "params.ok": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')
 | params.ok
 | ^`,
    },
  ],
  [
    'ValidatingAdmissionPolicyBinding',
    { spec: { policyName: 'p', validationActions: ['Deny', 'Warn'], paramRef: {} } },
    {
      'spec.paramRef': 'Required value: one of name or selector must be specified',
      'spec.paramRef.parameterNotFoundAction': 'Required value',
      'spec.validationActions':
        'Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    },
  ],
  [
    'APIService',
    { spec: { group: 'other', version: 'v1', groupPriorityMinimum: 0, versionPriority: 2000 } },
    {
      'metadata.name':
        'Invalid value: "v1.default.example.com": must be `spec.version+"."+spec.group`: "v1.other"',
      'spec.groupPriorityMinimum': 'Invalid value: 0: must be positive and less than 20000',
      'spec.versionPriority': 'Invalid value: 2000: must be positive and less than 1000',
    },
  ],
  [
    'IngressClass',
    { spec: { controller: `a.b/${'c'.repeat(247)}` } },
    { 'spec.controller': 'Too long: may not be more than 250 bytes' },
  ],
  [
    'MutatingWebhookConfiguration',
    {
      webhooks: [
        {
          ...{ name: 'a.b.c', clientConfig: { url: 'x' } },
          ...{ sideEffects: 'None', admissionReviewVersions: ['v1'] },
        },
      ],
    },
    {
      'webhooks[0].clientConfig.url':
        'Invalid value: "": host must be specified; desired format: https://host[/path]',
    },
  ],
  [
    'CertificateSigningRequest',
    { spec: { request: 'eA==', signerName: 'x', usages: ['any', 'any'] } },
    {
      'spec.request': 'Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST',
      'spec.signerName': `Invalid value: "x": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
      'spec.usages[1]': 'Duplicate value: "any"',
    },
  ],
];

describe('the rules of rarely used kinds', () => {
  it('accept policies whose expressions use variables and parameters', async () => {
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: { resourceRules: [{ ...label, resources: ['pods'] }] },
      matchConditions: [{ name: 'a', expression: 'params.data.a == "b"' }],
      variables: [
        { name: 'named', expression: "object.metadata.name != 'x'" },
        { name: 'ok', expression: 'variables.named && params.data.b == "c"' },
      ],
      validations: [{ expression: 'variables.ok' }],
    };
    expect(await problemsOf('ValidatingAdmissionPolicy', { spec })).to.deep.equal({});
  });

  for (const [kind, fields, problems] of refused) {
    it(`report the problems of a ${kind}`, async () => {
      expect(await problemsOf(kind, fields)).to.deep.equal(problems);
    });
  }

  it('record the user who creates a CertificateSigningRequest', async () => {
    const api = new Api({ users: { token: { name: 'jane', groups: ['system:masters'] } } });
    const response = await api.raw({
      method: 'POST',
      path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
      headers: { authorization: 'Bearer token', 'content-type': 'application/json' },
      body: JSON.stringify({
        metadata: { name: 'one' },
        spec: { ...signingRequest, username: 'other' },
      }),
    });
    expect(response.status).to.equal(201);
    const { body } = await api.get('/apis/certificates.k8s.io/v1/certificatesigningrequests/one');
    const groups = ['system:masters', 'system:authenticated'];
    expect(body['spec']).to.deep.include({ username: 'jane', groups });
  });

  it('refuse ephemeral containers in a pod template, and also report problems within these containers', async () => {
    const { template } = sampleKinds.find(({ kind }) => kind === 'PodTemplate')?.fields ?? {};
    const { metadata, spec } = template as { metadata: Fields; spec: Fields };
    const ephemeralContainers = [{ name: 'e', image: 'i', ports: [{ containerPort: 1 }] }];
    const changed = { template: { metadata, spec: { ...spec, ephemeralContainers } } };
    expect(await problemsOf('PodTemplate', changed)).to.deep.equal({
      'template.spec.ephemeralContainers':
        'Forbidden: ephemeral containers not allowed in pod template',
      'template.spec.ephemeralContainers[0].ports':
        'Forbidden: cannot be set for an Ephemeral Container',
    });
  });

  it('refuse updates without a resourceVersion', async () => {
    const path = '/apis/storage.k8s.io/v1/csinodes';
    const api = new Api();
    const node = await api.create(path, { metadata: { name: 'one' }, spec: { drivers: [] } });
    const metadata = withoutMembers(node.metadata, 'resourceVersion');
    const refused = await api.call('PUT', `${path}/one`, { ...node, metadata });
    expect(refused.code).to.equal(422);
    expect(refused.body.message).to.contain('metadata.resourceVersion');
  });

  it('answer a deletion of a CSINode with the object, and ignore the propagation policy for Events', async () => {
    const api = new Api();
    const nodes = '/apis/storage.k8s.io/v1/csinodes';
    await api.create(nodes, { metadata: { name: 'one' }, spec: { drivers: [] } });
    expect((await api.call('DELETE', `${nodes}/one`)).body.kind).to.equal('CSINode');
    const events = '/api/v1/namespaces/default/events';
    const involvedObject = { kind: 'Pod', name: 'p', namespace: 'default' };
    await api.create(events, { metadata: { name: 'one' }, involvedObject });
    await api.call('DELETE', `${events}/one`, { propagationPolicy: 'Orphan' });
    expect((await api.get(`${events}/one`)).code).to.equal(404);
  });

  it('keep the metadata of a FlowSchema in an update of its status', async () => {
    const api = new Api();
    const path = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas';
    const spec = { priorityLevelConfiguration: { name: 'global-default' } };
    await api.create(path, { metadata: { name: 'one' }, spec });
    const labels = { metadata: { labels: { a: 'b' } } };
    const { body } = await api.call('PATCH', `${path}/one/status`, labels, merge);
    expect(body.metadata.labels).to.equal(undefined);
  });

  it('keep lastTransitionTime of each condition of a CertificateSigningRequest', async () => {
    const api = new Api();
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    await api.create(path, { metadata: { name: 'one' }, spec: signingRequest });
    const times = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'];
    const write = async (conditions: readonly object[]): Promise<unknown[]> => {
      const { body } = await api.call(
        'PATCH',
        `${path}/one/status`,
        { status: { conditions } },
        merge,
      );
      const written = body['status'] as { readonly conditions: readonly Fields[] };
      return written.conditions.map(({ lastTransitionTime }) => lastTransitionTime);
    };
    const types = ['example.com/A', 'example.com/B'].map((type) => ({ type, status: 'True' }));
    await write(types.map((one, n) => ({ ...one, lastTransitionTime: times[n] })));
    expect(await write(types)).to.deep.equal(times);
  });

  it('allow an update of the source of a PersistentVolume only to add controllerExpandSecretRef', async () => {
    const api = new Api();
    const spec = {
      ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
      csi: { driver: 'example.com', volumeHandle: 'a' },
    };
    await api.create('/api/v1/persistentvolumes', { metadata: { name: 'one' }, spec });
    const change = (csi: object) =>
      api.call('PATCH', '/api/v1/persistentvolumes/one', { spec: { csi } }, merge);
    const controllerExpandSecretRef = { name: 'a', namespace: 'default' };
    expect((await change({ controllerExpandSecretRef })).code).to.equal(200);
    const renamed = { ...controllerExpandSecretRef, name: 'b' };
    expect((await change({ controllerExpandSecretRef: renamed })).code).to.equal(422);
    expect((await change({ volumeHandle: 'b' })).code).to.equal(422);
  });

  it('warn about removed fields of Nodes and PersistentVolumes', async () => {
    const api = new Api();
    const warningOf = async (path: string, body: object): Promise<string | undefined> =>
      (await api.call('POST', path, body)).headers['warning'];
    const node = { metadata: { name: 'one' }, spec: { externalID: 'x' } };
    expect(await warningOf('/api/v1/nodes', node)).to.contain('spec.externalID');
    const spec = {
      ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
      cephfs: { monitors: ['m'] },
    };
    const volume = { metadata: { name: 'one' }, spec };
    expect(await warningOf('/api/v1/persistentvolumes', volume)).to.contain('spec.cephfs');
  });

  it('set podCIDR of a node from the first of its podCIDRs, and podCIDRs from podCIDR', async () => {
    const api = new Api();
    const two = ['10.0.0.0/24', 'fd00::/64'];
    const given = [{ podCIDRs: two }, { podCIDR: two[0] }, { podCIDR: two[0], podCIDRs: [two[1]] }];
    const specs = await Promise.all(
      given.map(async (spec, index) => {
        const node = await api.create('/api/v1/nodes', { metadata: { name: `n${index}` }, spec });
        const { podCIDR, podCIDRs } = node['spec'] as Fields;
        return { podCIDR, podCIDRs };
      }),
    );
    const one = { podCIDR: two[0], podCIDRs: [two[0]] };
    expect(specs).to.deep.equal([{ podCIDR: two[0], podCIDRs: two }, one, one]);
  });

  it('drop deprecatedTopology of EndpointSlices without a check', async () => {
    const api = new Api();
    const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
    const endpoint = { addresses: ['10.1.2.3'], conditions: {}, zone: 'z' };
    const endpoints = [{ ...endpoint, deprecatedTopology: { 'x!': '!' } }];
    const slice = { metadata: { name: 'one' }, addressType: 'IPv4', ports: [], endpoints };
    expect((await api.create(path, slice))['endpoints']).to.deep.equal([endpoint]);
    const { code, body } = await api.call('PUT', `${path}/one`, slice);
    expect(code).to.equal(200);
    expect(body['endpoints']).to.deep.equal([endpoint]);
  });

  it('refuse a patch that removes a required list of a Pod or a CustomResourceDefinition, and name a field', async () => {
    const api = new Api();
    const pods = '/api/v1/namespaces/default/pods';
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' } };
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await api.call('PATCH', `${pods}/one?fieldManager=a`, { ...pod, spec }, apply);
    const emptied = await api.call('PATCH', `${pods}/one?fieldManager=a`, pod, apply);
    expect(causeFields(emptied)).to.include('spec.containers');
    await installed(api);
    const path = `${crds}/widgets.example.com`;
    const without = await api.call('PATCH', path, { spec: { versions: null } }, merge);
    expect(causeFields(without)).to.include('status.storedVersions[0]');
  });

  it('increment the generation of a webhook configuration when a body has empty lists', async () => {
    const api = new Api();
    const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
    await api.create(path, { metadata: { name: 'one' } });
    const generation = async (body: object): Promise<number | undefined> =>
      (await api.call('PATCH', `${path}/one`, body, merge)).body.metadata.generation;
    expect(await generation({ webhooks: [] })).to.equal(2);
    expect(await generation({ metadata: { labels: { a: 'b' } } })).to.equal(2);
    const webhook = {
      ...{ name: 'a.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'] },
      clientConfig: { url: 'https://localhost/' },
    };
    expect(await generation({ webhooks: [webhook] })).to.equal(3);
    expect(await generation({ webhooks: [webhook] })).to.equal(3);
    expect(await generation({ webhooks: [{ ...webhook, rules: [] }] })).to.equal(4);
    const namespaceSelector = { matchLabels: {} };
    expect(await generation({ webhooks: [{ ...webhook, namespaceSelector }] })).to.equal(5);
  });

  it('accept a projected volume without sources', async () => {
    const containers = [{ name: 'c', image: 'i' }];
    const spec = { containers, volumes: [{ name: 'v', projected: { defaultMode: 1 } }] };
    const body = { metadata: { name: 'one' }, spec };
    const { code } = await new Api().call('POST', '/api/v1/namespaces/default/pods', body);
    expect(code).to.equal(201);
  });
});
