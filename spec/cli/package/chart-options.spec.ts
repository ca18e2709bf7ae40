import { expect } from 'chai';
import { chartOf } from '../../../lib/cli/package/make-chart.js';

type Fields = Readonly<Record<string, unknown>>;

const inShops = (name: string): object => ({ name, namespace: 'shops-system' });

function manager(container: object, pod: object = {}, replicas?: number): object {
  const containers = [{ name: 'manager', image: 'shops:1.2.0', ...container }];
  const spec = { serviceAccountName: 'shops-manager', containers };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: inShops('shops-manager') },
    spec: { template: { spec: { ...spec, ...pod } }, ...(replicas !== undefined && { replicas }) },
  };
}

/** Returns the values of a chart, and the lines of its templates without those of labels. */
async function chart(...objects: readonly object[]) {
  return chartWith(objects, objects);
}

/** @param all - the objects with all optional parts */
async function chartWith(objects: readonly object[], all: readonly object[]) {
  const { values, schema, files } = await chartOf({
    ...{ name: 'shops', version: '1.2.0', objects, all, from: 'config/default' },
  });
  const lines = [...files]
    .filter(([path]) => path.startsWith('templates/') && path.endsWith('.yaml'))
    .map(([, text]) => text.split('\n').filter((line) => !/labels/.test(line) && line !== ''));
  return { values: values.toJS() as Fields, schema: schema as Fields, lines };
}

async function templateOf(object: object): Promise<readonly string[]> {
  const { lines } = await chart(manager({}), object);
  return lines[1] ?? [];
}

describe('The optional parts of a chart', () => {
  it('include the peers of a NetworkPolicy as values, for metrics or for webhooks by the port of their rule', async () => {
    const from = [{ namespaceSelector: { matchLabels: { metrics: 'enabled' } } }];
    const policy = {
      ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: inShops('shops') },
      spec: {
        podSelector: {},
        ingress: [
          { ports: [{ port: 'metrics' }], from },
          { ports: [{ port: 'webhook' }] },
          { ports: [{ port: 'health' }], from: [] },
        ],
      },
    };
    const { values, lines } = await chart(manager({}), policy);
    expect(values['networkPolicy']).to.deep.include({ metricsFrom: from });
    const peers = (part: string): readonly string[] => [
      `    {{- with .Values.networkPolicy.${part}From }}`,
      '    from:',
      '      {{- toYaml . | nindent 6 }}',
      '    {{- end }}',
    ];
    expect(lines[1]).to.deep.equal([
      '{{- if .Values.networkPolicy.enabled }}',
      'apiVersion: networking.k8s.io/v1',
      'kind: NetworkPolicy',
      'metadata:',
      '  name: shops',
      '  namespace: {{ .Release.Namespace | quote }}',
      'spec:',
      '  podSelector: {}',
      '  ingress:',
      ...['  - ports:', '    - port: metrics', ...peers('metrics')],
      ...['  - ports:', '    - port: webhook', ...peers('webhook')],
      ...['  - ports:', '    - port: health', '    from: []'],
      '{{- end }}',
    ]);
  });

  it('include a PodDisruptionBudget, with maxUnavailable as a value of the chart unless it has minAvailable', async () => {
    const budget = (spec: object): object => ({
      ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: inShops('shops'), spec },
    });
    const maximum = await templateOf(budget({ maxUnavailable: 1 }));
    expect(maximum[0]).to.equal('{{- if .Values.podDisruptionBudget.enabled }}');
    expect(maximum).to.include(
      '  maxUnavailable: {{ .Values.podDisruptionBudget.maxUnavailable }}',
    );
    const minimum = await templateOf(budget({ minAvailable: 1 }));
    expect(minimum.slice(-3)).to.deep.equal(['spec:', '  minAvailable: 1', '{{- end }}']);
  });

  it('include a ServiceMonitor, which uses HTTPS only for authenticated metrics', async () => {
    const endpoint = {
      ...{ port: 'metrics', scheme: 'https', bearerTokenFile: '/token' },
      ...{ tlsConfig: { insecureSkipVerify: true }, path: '/metrics' },
    };
    const lines = await templateOf({
      ...{ apiVersion: 'monitoring.coreos.com/v1', kind: 'ServiceMonitor' },
      ...{ metadata: inShops('shops'), spec: { endpoints: [endpoint] } },
    });
    expect(lines[0]).to.equal(
      '{{- if and .Values.metrics.enabled .Values.metrics.serviceMonitor.enabled }}',
    );
    expect(lines.slice(lines.indexOf('spec:'))).to.deep.equal([
      'spec:',
      '  endpoints:',
      '  - port: metrics',
      '    path: /metrics',
      '    {{- if .Values.metrics.auth }}',
      '    scheme: https',
      '    bearerTokenFile: /token',
      '    tlsConfig:',
      '      insecureSkipVerify: true',
      '    {{- end }}',
      '{{- end }}',
    ]);
  });

  it('are enabled by the default values if config/ includes them', async () => {
    const kinds = ['ServiceMonitor', 'PodDisruptionBudget', 'NetworkPolicy'];
    const parts = kinds.map((kind) => ({
      ...{ apiVersion: 'v1', kind, metadata: inShops('shops') },
      spec: { maxUnavailable: '50%', ingress: [] },
    }));
    const settings = ({ metrics, podDisruptionBudget, networkPolicy }: Fields) => [
      ...[metrics, podDisruptionBudget, networkPolicy],
    ];
    const none = await chartWith([manager({})], [manager({}), ...parts]);
    expect(settings(none.values)).to.deep.equal([
      { enabled: true, auth: false, serviceMonitor: { enabled: false } },
      { enabled: false, maxUnavailable: 1 },
      { enabled: false, metricsFrom: [], webhookFrom: [] },
    ]);
    const all = await chart(manager({}), ...parts);
    expect(settings(all.values)).to.deep.equal([
      { enabled: true, auth: false, serviceMonitor: { enabled: true } },
      { enabled: true, maxUnavailable: '50%' },
      { enabled: true, metricsFrom: [], webhookFrom: [] },
    ]);
  });

  it('include annotations of the ServiceAccount that the values set', async () => {
    const account = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: inShops('shops-manager'),
    };
    const lines = await templateOf(account);
    expect(lines.slice(lines.indexOf('metadata:'))).to.deep.equal([
      'metadata:',
      '  name: {{ .Values.serviceAccount.name | default "shops-manager" | quote }}',
      '  namespace: {{ .Release.Namespace | quote }}',
      '  {{- with .Values.serviceAccount.annotations }}',
      '  annotations:',
      '    {{- toYaml . | nindent 4 }}',
      '  {{- end }}',
      '{{- end }}',
    ]);
  });

  it('have the namespace of the release in each field namespace, but not in other fields with the same text', async () => {
    const lines = await templateOf({
      ...{ apiVersion: 'v1', kind: 'Box', metadata: { name: 'b', namespace: 'other' } },
      spec: { team: 'shops-system', namespace: 'shops-system' },
    });
    expect(lines).to.include('  namespace: other');
    expect(lines.slice(lines.indexOf('spec:'))).to.deep.equal([
      'spec:',
      '  team: shops-system',
      '  namespace: {{ .Release.Namespace | quote }}',
    ]);
  });

  it('include a ServiceMonitor over plain HTTP without changes', async () => {
    const lines = await templateOf({
      ...{ apiVersion: 'monitoring.coreos.com/v1', kind: 'ServiceMonitor' },
      ...{ metadata: inShops('shops'), spec: { endpoints: [{ port: 'metrics' }] } },
    });
    expect(lines.slice(lines.indexOf('spec:'))).to.deep.equal([
      ...['spec:', '  endpoints:', '  - port: metrics', '{{- end }}'],
    ]);
  });

  it('include the flag --leader-election of declarative operators', async () => {
    const args = ['declarative', 'run', '--leader-election=shops-system/shops', '/operators'];
    const { values, lines } = await chart(manager({ args }));
    expect(values['leaderElection']).to.deep.equal({ enabled: true });
    const from = lines[0]?.indexOf('        args:') ?? 0;
    expect(lines[0]?.slice(from + 3, from + 7)).to.deep.equal([
      '        {{- if .Values.leaderElection.enabled }}',
      '        - --leader-election=shops-system/shops',
      '        {{- end }}',
      '        - /operators',
    ]);
  });

  for (const [what, kind, ports, condition] of [
    ['the Service of metrics', 'Service', 'metrics', '{{- if .Values.metrics.enabled }}'],
    ['the Service of webhooks', 'Service', 'webhook', '{{- if .Values.webhook.enabled }}'],
    ['no other Service', 'Service', 'http', 'apiVersion: v1'],
    ['no other kind with such ports', 'Box', 'metrics', 'apiVersion: v1'],
  ] as const) {
    it(`include ${what}`, async () => {
      const spec = { ports: [{ name: 'first' }, { name: ports }] };
      const lines = await templateOf({
        ...{ apiVersion: 'v1', kind, metadata: inShops('shops'), spec },
      });
      expect(lines[0]).to.equal(condition);
    });
  }

  it('include roles, and the roles of authenticated metrics only if these metrics are enabled', async () => {
    const conditions = async (kind: string, name: string): Promise<string | undefined> =>
      (await templateOf({ apiVersion: 'v1', kind, metadata: { name } }))[0];
    const plain = '{{- if .Values.rbac.create }}';
    expect(await conditions('ClusterRole', 'shops-manager-role')).to.equal(plain);
    expect(await conditions('Role', 'shops-metrics-reader')).to.equal(plain);
    const ofMetrics =
      '{{- if and .Values.rbac.create .Values.metrics.enabled .Values.metrics.auth }}';
    for (const [kind, name] of [
      ['ClusterRole', 'shops-metrics-auth-role'],
      ['ClusterRoleBinding', 'shops-metrics-auth-rolebinding'],
      ['RoleBinding', 'shops-metrics-certificates-rolebinding'],
    ] as const) {
      expect(await conditions(kind, name), name).to.equal(ofMetrics);
    }
    expect(await conditions('RoleList', 'shops')).to.equal('apiVersion: v1');
  });

  it('include bindings whose ServiceAccount of the operator is a value, and keep other accounts in them', async () => {
    const subjects = ['shops-manager', 'other'].map((name) => ({ kind: 'ServiceAccount', name }));
    const group = { kind: 'Group', name: 'shops-manager' };
    const lines = await templateOf({
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
      ...{ metadata: inShops('shops'), subjects: [...subjects, group] },
    });
    expect(lines.slice(lines.indexOf('subjects:'))).to.deep.equal([
      'subjects:',
      '- kind: ServiceAccount',
      '  name: {{ .Values.serviceAccount.name | default "shops-manager" | quote }}',
      '- kind: ServiceAccount',
      '  name: other',
      '- kind: Group',
      '  name: shops-manager',
      '{{- end }}',
    ]);
  });

  it('include the flags for leader election, metrics and webhooks', async () => {
    const args = ['--metrics-port=8443', '--zap', '--log-level=debug'];
    const { values, lines } = await chart(manager({ args }));
    const from = lines[0]?.indexOf('        args:') ?? 0;
    expect(values['logLevel']).to.equal('debug');
    expect(lines[0]?.slice(from, from + 12)).to.deep.equal([
      '        args:',
      '        {{- if .Values.metrics.enabled }}',
      '        - --metrics-port=8443',
      '        {{- end }}',
      '        - --zap',
      '        {{- if .Values.leaderElection.enabled }}',
      '        - --leader-elect',
      '        {{- end }}',
      '        {{- if not .Values.metrics.enabled }}',
      '        - --no-metrics',
      '        {{- end }}',
      '        {{- if not .Values.webhook.enabled }}',
    ]);
  });

  for (const auth of ['--metrics-auth', '--metrics-auth=shops-system/metrics']) {
    it(`include authenticated metrics and plans if config/ has the flags ${auth} and --plan`, async () => {
      const { values, lines } = await chart(manager({ args: [auth, '--plan'] }));
      expect(values['metrics']).to.deep.include({ auth: true });
      const from = lines[0]?.indexOf('        args:') ?? 0;
      expect(lines[0]?.slice(from + 1, from + 7)).to.deep.equal(
        [auth, '--plan'].flatMap((flag) => [
          '        {{- if and .Values.metrics.enabled .Values.metrics.auth }}',
          `        - ${flag}`,
          '        {{- end }}',
        ]),
      );
    });
  }

  it('include fields of the pod and its container as values, with defaults from config/', async () => {
    const resources = { limits: { memory: '128Mi' } };
    const nodeSelector = { disk: 'fast' };
    const { values, lines } = await chart(manager({ resources }, { nodeSelector }, 3));
    expect(values).to.deep.include({ resources, nodeSelector, replicas: 3 });
    expect(lines[0]).to.include('  replicas: {{ .Values.replicas }}');
    for (const fixed of ['128Mi', 'fast']) expect(lines[0]?.join()).not.to.include(fixed);
    const name = /^ +(?:resources|nodeSelector):/;
    expect(lines[0]?.filter((line) => name.test(line))).to.have.length(2);
  });

  it('omit the field env of the container if the release sets no variables', async () => {
    const { lines } = await chart(manager({ env: [{ name: 'LEVEL', value: 'high' }] }));
    const found = lines[0]?.filter((line) => /^ +env:$|or \.Values\.env/.test(line)) ?? [];
    expect(found.map((line) => line.trim())).to.deep.equal([
      ...['{{- if or .Values.env .Values.extraEnv }}', 'env:'],
    ]);
  });

  it('include environment variables: those with literal texts become values, references stay in the template', async () => {
    const env = [
      { name: 'LEVEL', value: 'high' },
      { name: 'EMPTY' },
      { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'NAMED', value: '$(POD)-1' },
      { name: 'HOST', value: 'shops.shops-system.svc' },
    ];
    const { values, schema, lines } = await chart(manager({ env }));
    expect(values['env']).to.deep.equal({ LEVEL: 'high', EMPTY: '' });
    const { properties } = schema as { readonly properties: Readonly<Record<string, Fields>> };
    const variable = { type: ['string', 'null'] };
    expect(properties['env']).to.deep.equal({
      ...{ type: 'object', additionalProperties: variable },
      properties: { LEVEL: variable, EMPTY: variable },
    });
    const none = (await chart(manager({}))).schema as typeof schema & typeof properties;
    expect(none['properties']).to.deep.include({
      env: { type: 'object', additionalProperties: variable },
    });
    const names = lines[0]?.filter((line) => /^ +- name: [A-Z{]|\$replaced "/.test(line));
    expect(names?.map((line) => line.trim())).to.deep.equal([
      '{{- if not (hasKey $replaced "POD") }}',
      '- name: POD',
      '- name: {{ $name | quote }}',
      '{{- if not (hasKey $replaced "NAMED") }}',
      '- name: NAMED',
      '{{- if not (hasKey $replaced "HOST") }}',
      '- name: HOST',
    ]);
    expect(lines[0]).to.include('        env:').and.not.include('.Values.env .Values.extraEnv');
  });

  for (const [image, repository, tag] of [
    ['shops', 'shops', ''],
    ['registry.example:5000/shops', 'registry.example:5000/shops', ''],
    ['registry.example:5000/shops:2.0.0', 'registry.example:5000/shops', '2.0.0'],
    ['shops:1.2.0', 'shops', ''],
  ] as const) {
    it(`include the repository and the tag of the image ${image}`, async () => {
      const { values } = await chart(manager({ image }));
      expect(values['image']).to.deep.include({ repository, tag });
    });
  }
});
