import { expect } from 'chai';
import { chartOf } from '../../../lib/cli/package/make-chart.js';
import type { Chart } from '../../../lib/cli/package/make-chart.js';

const inShops = (name: string, more: object = {}): object => ({
  ...{ name, namespace: 'shops-system', ...more },
});

interface ManagerParts {
  readonly container: object;
  readonly podSpec?: object;
  readonly metadata?: object;
}

/** The Deployment of an operator. */
function deployment({ container, podSpec = {}, metadata }: ManagerParts): object {
  const containers = [{ name: 'manager', ...container }];
  const spec = { serviceAccountName: 'shops-manager', containers, ...podSpec };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: inShops('shops-manager') },
    spec: { template: { ...(metadata !== undefined && { metadata }), spec } },
  };
}

const program = deployment({ container: { image: 'shops:1.2.0', args: ['--leader-elect'] } });

function chart(...objects: readonly object[]): Promise<Chart> {
  const from = 'config/default';
  return chartOf({ name: 'shops', version: '1.2.0', objects, all: objects, from });
}

/** Returns the templates of objects other than the Deployment. */
async function templates(...objects: readonly object[]): Promise<readonly string[]> {
  const { files } = await chart(program, ...objects);
  const made = [...files].filter(([path]) => path.endsWith('.yaml')).slice(1);
  return made.map(([path, text]) => `${path}\n${text}`);
}

const lines = (...text: readonly string[]): string => `${text.join('\n')}\n`;

/** The lines of a template that set the labels of an object. */
const labels = ['  labels:', '    {{- include "shops.labels" . | nindent 4 }}'];

/** Returns the lines of a template that replace a field with a value. */
function whole(indent: number, key: string, value = key): readonly string[] {
  const blanks = ' '.repeat(indent);
  const items = `${blanks}  {{- toYaml . | nindent ${indent + 2} }}`;
  return [
    `${blanks}{{- with .Values.${value} }}`,
    `${blanks}${key}:`,
    items,
    `${blanks}{{- end }}`,
  ];
}

/** Returns the lines of a template that add a value to a list or map. */
function among(indent: number, value: string): readonly string[] {
  const blanks = ' '.repeat(indent);
  const items = `${blanks}{{- toYaml . | nindent ${indent} }}`;
  return [`${blanks}{{- with .Values.${value} }}`, items, `${blanks}{{- end }}`];
}

/** The lines of a template for the environment variables of a container that has none in config/. */
const variables = [
  '        env:',
  '        {{- $replaced := dict }}',
  '        {{- range .Values.extraEnv }}',
  '        {{- $_ := set $replaced .name true }}',
  '        {{- end }}',
  '        {{- range $name, $value := .Values.env }}',
  '        {{- if not (or (hasKey $replaced $name) (kindIs "invalid" $value)) }}',
  '        - name: {{ $name | quote }}',
  '          value: {{ $value | quote }}',
  '        {{- end }}',
  '        {{- end }}',
  ...among(8, 'extraEnv'),
];

/** The lines of a template for the values of each pod. */
const podValues = [
  ...whole(6, 'imagePullSecrets'),
  ...whole(6, 'nodeSelector'),
  ...whole(6, 'tolerations'),
  ...whole(6, 'affinity'),
  ...whole(6, 'topologySpreadConstraints'),
  ...whole(6, 'securityContext', 'podSecurityContext'),
  '      {{- with .Values.priorityClassName }}',
  '      priorityClassName: {{ . | quote }}',
  '      {{- end }}',
];

describe('The chart of a program without metrics and webhooks', () => {
  const digest = `sha256:${'0a'.repeat(32)}`;
  const container = {
    ...{ image: `registry.example/shops:1.2.0@${digest}`, imagePullPolicy: 'Always' },
    args: ['declarative', 'run', '--log-level=warn', '/operators'],
  };
  const declarative = deployment({ container, podSpec: { priorityClassName: 'high' } });

  it('has values for its digest, pull policy and priority class, but no values for webhooks', async () => {
    const { values } = await chart(declarative);
    const given = values.toJS() as Readonly<Record<string, unknown>>;
    expect(given).not.to.have.property('webhook');
    expect(given).to.deep.include({
      image: { repository: 'registry.example/shops', tag: '', digest, pullPolicy: 'Always' },
      ...{ replicas: 1, logLevel: 'warn', priorityClassName: 'high', env: {} },
      leaderElection: { enabled: false },
      metrics: { enabled: true, auth: false, serviceMonitor: { enabled: false } },
      networkPolicy: { enabled: false, metricsFrom: [] },
      podDisruptionBudget: { enabled: false, maxUnavailable: 1 },
    });
  });

  it('has a Deployment without the arguments for optional parts', async () => {
    const { files } = await chart(declarative);
    expect(files.get('templates/deployment-manager.yaml')).to.equal(
      lines(
        'apiVersion: apps/v1',
        'kind: Deployment',
        'metadata:',
        '  name: shops-manager',
        '  namespace: {{ .Release.Namespace | quote }}',
        '  labels:',
        '    {{- include "shops.labels" . | nindent 4 }}',
        'spec:',
        '  template:',
        '    spec:',
        '      serviceAccountName: {{ .Values.serviceAccount.name | default "shops-manager" | quote }}',
        '      containers:',
        '      - name: manager',
        '        image: {{ include "shops.image" . | quote }}',
        '        args:',
        '        - declarative',
        '        - run',
        '        - /operators',
        '        {{- with .Values.logLevel }}',
        '        - --log-level={{ . }}',
        '        {{- end }}',
        ...among(8, 'extraArgs'),
        '        {{- with .Values.image.pullPolicy }}',
        '        imagePullPolicy: {{ . | quote }}',
        '        {{- end }}',
        '        {{- if or .Values.env .Values.extraEnv }}',
        ...variables,
        '        {{- end }}',
        ...whole(8, 'resources'),
        ...whole(8, 'securityContext'),
        ...whole(8, 'volumeMounts', 'extraVolumeMounts'),
        ...podValues,
        ...whole(6, 'volumes', 'extraVolumes'),
        '    metadata:',
        ...whole(6, 'annotations', 'podAnnotations'),
        ...whole(6, 'labels', 'podLabels'),
        '  replicas: {{ .Values.replicas }}',
      ),
    );
  });
});

describe('The chart of a program with webhooks', () => {
  const secret = { secretName: 'shops-webhook-server-cert' };
  const manager = deployment({
    container: {
      ...{ image: 'registry.example/shops', args: ['--leader-elect', '--webhook-port=9443'] },
      ports: [
        { name: 'webhook', containerPort: 9443 },
        { name: 'health', containerPort: 8081 },
      ],
      volumeMounts: [
        { name: 'certificate', mountPath: '/certificate' },
        { name: 'cache', mountPath: '/cache' },
      ],
    },
    podSpec: {
      volumes: [
        { name: 'certificate', secret },
        { name: 'cache', emptyDir: {} },
      ],
    },
    metadata: { labels: { app: 'shops' }, annotations: { a: 'b' } },
  });

  it('mounts the certificate only if webhooks are enabled, and appends the lists and maps of values.yaml to those of the manifest', async () => {
    const { files } = await chart(manager);
    expect(files.get('templates/deployment-manager.yaml')).to.equal(
      lines(
        'apiVersion: apps/v1',
        'kind: Deployment',
        'metadata:',
        '  name: shops-manager',
        '  namespace: {{ .Release.Namespace | quote }}',
        '  labels:',
        '    {{- include "shops.labels" . | nindent 4 }}',
        'spec:',
        '  template:',
        '    metadata:',
        '      labels:',
        '        app: shops',
        ...among(8, 'podLabels'),
        '      annotations:',
        '        a: b',
        ...among(8, 'podAnnotations'),
        '    spec:',
        '      serviceAccountName: {{ .Values.serviceAccount.name | default "shops-manager" | quote }}',
        '      containers:',
        '      - name: manager',
        '        image: {{ include "shops.image" . | quote }}',
        '        args:',
        '        {{- if .Values.leaderElection.enabled }}',
        '        - --leader-elect',
        '        {{- end }}',
        '        {{- if .Values.webhook.enabled }}',
        '        - --webhook-port=9443',
        '        {{- end }}',
        '        {{- if not .Values.metrics.enabled }}',
        '        - --no-metrics',
        '        {{- end }}',
        '        {{- if not .Values.webhook.enabled }}',
        '        - --no-webhooks',
        '        {{- end }}',
        '        {{- with .Values.logLevel }}',
        '        - --log-level={{ . }}',
        '        {{- end }}',
        ...among(8, 'extraArgs'),
        '        ports:',
        '        {{- if .Values.webhook.enabled }}',
        '        - name: webhook',
        '          containerPort: 9443',
        '        {{- end }}',
        '        - name: health',
        '          containerPort: 8081',
        '        {{- with .Values.image.pullPolicy }}',
        '        imagePullPolicy: {{ . | quote }}',
        '        {{- end }}',
        '        {{- if or .Values.env .Values.extraEnv }}',
        ...variables,
        '        {{- end }}',
        ...whole(8, 'resources'),
        ...whole(8, 'securityContext'),
        '        volumeMounts:',
        '        {{- if .Values.webhook.enabled }}',
        '        - name: certificate',
        '          mountPath: /certificate',
        '        {{- end }}',
        '        - name: cache',
        '          mountPath: /cache',
        ...among(8, 'extraVolumeMounts'),
        ...podValues,
        '      volumes:',
        '      {{- if .Values.webhook.enabled }}',
        '      - name: certificate',
        '        secret:',
        '          secretName: shops-webhook-server-cert',
        '      {{- end }}',
        '      - name: cache',
        '        emptyDir: {}',
        ...among(6, 'extraVolumes'),
        '  replicas: {{ .Values.replicas }}',
      ),
    );
  });

  const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };

  it('has the conversion and the CA of a definition only if webhooks are enabled', async () => {
    const annotations = { 'cert-manager.io/inject-ca-from': 'shops-system/serving', mine: 'a' };
    const service = { name: 'shops', namespace: 'shops-system' };
    const made = await templates({
      ...{ ...definition, metadata: { name: 'shops.example.com', annotations } },
      spec: {
        conversion: { strategy: 'Webhook', webhook: { clientConfig: { service } } },
        versions: [{ name: 'v1', schema: { description: 'shops-system/a' } }],
      },
    });
    expect(made).to.deep.equal([
      lines(
        'templates/crds/shops.example.com.yaml',
        '{{- if .Values.crds.install }}',
        'apiVersion: apiextensions.k8s.io/v1',
        'kind: CustomResourceDefinition',
        'metadata:',
        '  name: shops.example.com',
        '  annotations:',
        '    mine: a',
        '    {{- if .Values.webhook.enabled }}',
        '    cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/serving',
        '    {{- end }}',
        '    {{- if .Values.crds.keep }}',
        '    helm.sh/resource-policy: keep',
        '    {{- end }}',
        ...labels,
        'spec:',
        '  versions:',
        '  - name: v1',
        '    schema:',
        '      description: shops-system/a',
        '  {{- if .Values.webhook.enabled }}',
        '  conversion:',
        '    strategy: Webhook',
        '    webhook:',
        '      clientConfig:',
        '        service:',
        '          name: shops',
        '          namespace: {{ .Release.Namespace | quote }}',
        '  {{- end }}',
        '{{- end }}',
      ),
    ]);
  });

  it('has certificates and webhook configurations only if webhooks are enabled', async () => {
    const made = await templates(
      {
        ...{ apiVersion: 'cert-manager.io/v1', kind: 'Certificate', metadata: inShops('serving') },
        spec: { dnsNames: ['shops.shops-system.svc', 'shops-system.example'] },
      },
      {
        ...{
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind: 'ValidatingWebhookConfiguration',
        },
        ...{ metadata: { name: 'shops' }, webhooks: [] },
      },
    );
    expect(made).to.deep.equal([
      lines(
        'templates/certificate-serving.yaml',
        '{{- if .Values.webhook.enabled }}',
        'apiVersion: cert-manager.io/v1',
        'kind: Certificate',
        'metadata:',
        '  name: serving',
        '  namespace: {{ .Release.Namespace | quote }}',
        ...labels,
        'spec:',
        '  dnsNames:',
        '  - shops.{{ .Release.Namespace }}.svc',
        '  - shops-system.example',
        '{{- end }}',
      ),
      lines(
        'templates/validatingwebhookconfiguration-shops.yaml',
        '{{- if .Values.webhook.enabled }}',
        'apiVersion: admissionregistration.k8s.io/v1',
        'kind: ValidatingWebhookConfiguration',
        'metadata:',
        '  name: shops',
        ...labels,
        'webhooks: []',
        '{{- end }}',
      ),
    ]);
  });
});

describe('The templates of a chart', () => {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount' };

  it('take the name of the operator’s ServiceAccount from the values, and add annotations to the account', async () => {
    const annotations = { role: 'a' };
    const ofCharts = {
      ...{ 'helm.sh/chart': 'old', 'app.kubernetes.io/instance': 'old' },
      'app.kubernetes.io/managed-by': 'kustomize',
    };
    const made = await templates(
      { ...account, metadata: inShops('shops-manager', { annotations }) },
      { ...account, metadata: inShops('other', { labels: { ...ofCharts, a: 'b' } }) },
    );
    expect(made).to.deep.equal([
      lines(
        'templates/serviceaccount-manager.yaml',
        '{{- if .Values.serviceAccount.create }}',
        'apiVersion: v1',
        'kind: ServiceAccount',
        'metadata:',
        '  name: {{ .Values.serviceAccount.name | default "shops-manager" | quote }}',
        '  namespace: {{ .Release.Namespace | quote }}',
        '  annotations:',
        '    role: a',
        ...among(4, 'serviceAccount.annotations'),
        ...labels,
        '{{- end }}',
      ),
      lines(
        'templates/serviceaccount-other.yaml',
        'apiVersion: v1',
        'kind: ServiceAccount',
        'metadata:',
        '  name: other',
        '  namespace: {{ .Release.Namespace | quote }}',
        '  labels:',
        '    a: b',
        '    {{- include "shops.labels" . | nindent 4 }}',
      ),
    ]);
  });

  it('omit the operator’s namespace, and keep other namespaces', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace' };
    const made = await templates(
      { ...namespace, metadata: { name: 'shops-system' } },
      { ...namespace, metadata: { name: 'other' } },
    );
    expect(made.map((text) => text.split('\n')[0])).to.deep.equal([
      'templates/namespace-other.yaml',
    ]);
  });
});
