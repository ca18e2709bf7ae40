import { expect } from 'chai';
import isUndefined from 'lodash/isUndefined.js';
import omitBy from 'lodash/omitBy.js';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { buildKustomization } from '../../lib/cli/package/overlay.js';
import type { BuiltObject } from '../../lib/cli/package/overlay.js';
import { cli, scratchDirectory } from '../cli/cli.js';
import { holdTo, makeProject } from '../cli/scaffold/project.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { renderChart } from './helm-render/render.js';
import type { ChartResult, Rendered } from './helm-render/render.js';
import { Kubectl } from './kubectl.js';

interface Container {
  readonly [field: string]: unknown;
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly unknown[];
  readonly ports: readonly { readonly name: string }[];
}

interface Deployment extends BuiltObject {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly metadata: Readonly<Record<'labels' | 'annotations', Record<string, string>>>;
      readonly spec: Readonly<Record<string, unknown>> & {
        readonly containers: readonly [Container];
      };
    };
  };
}

/** Returns the part of a rendered chart that a value changes. */
type Effect = (objects: readonly BuiltObject[], deployment: Deployment) => unknown;

const names = (objects: readonly BuiltObject[]): readonly string[] =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name ?? ''}`);

const container: (field: string) => Effect = (field) => (_, deployment) =>
  deployment.spec.template.spec.containers[0][field];
const pod: (field: string) => Effect = (field) => (_, deployment) =>
  deployment.spec.template.spec[field];
const has: (name: string) => Effect = (name) => (objects) => names(objects).includes(name);
const argument: (arg: string) => Effect = (arg) => (_, deployment) =>
  deployment.spec.template.spec.containers[0].args.includes(arg);
const port: (name: string) => Effect = (name) => (_, deployment) =>
  deployment.spec.template.spec.containers[0].ports.some((one) => one.name === name);
const keeps: Effect = (objects) =>
  objects
    .filter(({ kind }) => kind === 'CustomResourceDefinition')
    .every(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'] === 'keep');

const peers: (name: string) => Effect = (name) => (objects) => {
  const policy = objects.find(
    ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === name,
  );
  const { ingress } = (policy?.['spec'] ?? {}) as { ingress?: readonly { from?: unknown }[] };
  return ingress?.[0]?.from;
};
const scheme: Effect = (objects) => {
  const monitor = objects.find(({ kind }) => kind === 'ServiceMonitor');
  const { endpoints } = (monitor?.['spec'] ?? {}) as {
    endpoints?: readonly { scheme?: unknown }[];
  };
  return endpoints?.[0]?.scheme;
};
const maxUnavailable: Effect = (objects) => {
  const budget = objects.find(({ kind }) => kind === 'PodDisruptionBudget');
  return (budget?.['spec'] as { maxUnavailable?: unknown } | undefined)?.maxUnavailable;
};
const countOf: (kinds: RegExp) => Effect = (kinds) => (objects) =>
  objects.filter(({ kind }) => kinds.test(kind)).length;

const hardened = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
const digest = `sha256:${'0'.repeat(64)}`;
const toleration = { key: 'a', operator: 'Exists' };
const spread = {
  maxSkew: 1,
  topologyKey: 'zone',
  whenUnsatisfiable: 'ScheduleAnyway',
  labelSelector: {},
};

const podNamespace = {
  name: 'POD_NAMESPACE',
  valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } },
};
const own = { name: 'DNS_PROVIDER_URL', value: 'https://a.example' };
const secret = { secretKeyRef: { name: 'dns', key: 'url' } };

/** For each value: its change, the observed part, and that part before and after. */
const switches: readonly (readonly [values: object, Effect, before: unknown, after: unknown])[] = [
  [
    { image: { repository: 'a/b', tag: 'c' } },
    container('image'),
    'registry.example/shops:0.1.0',
    'a/b:c',
  ],
  [
    { image: { digest } },
    container('image'),
    'registry.example/shops:0.1.0',
    `registry.example/shops@${digest}`,
  ],
  [{ image: { pullPolicy: 'Always' } }, container('imagePullPolicy'), undefined, 'Always'],
  [{ imagePullSecrets: [{ name: 's' }] }, pod('imagePullSecrets'), undefined, [{ name: 's' }]],
  [{ replicas: 3 }, (_, { spec }) => spec.replicas, 1, 3],
  [{ leaderElection: { enabled: false } }, argument('--leader-elect'), true, false],
  [{ logLevel: 'debug' }, argument('--log-level=debug'), false, true],
  [{ extraArgs: ['--x=1'] }, argument('--x=1'), false, true],
  [
    { extraEnv: [{ name: 'A', value: 'b' }] },
    container('env'),
    [podNamespace, own],
    [podNamespace, own, { name: 'A', value: 'b' }],
  ],
  [
    { env: { B: '1', DNS_PROVIDER_URL: 'https://b.example' } },
    container('env'),
    [podNamespace, own],
    [podNamespace, { name: 'B', value: '1' }, { ...own, value: 'https://b.example' }],
  ],
  [{ env: { DNS_PROVIDER_URL: null } }, container('env'), [podNamespace, own], [podNamespace]],
  [
    {
      extraEnv: [
        { name: own.name, valueFrom: secret },
        { name: podNamespace.name, value: 'x' },
      ],
    },
    container('env'),
    [podNamespace, own],
    [
      { name: own.name, valueFrom: secret },
      { name: podNamespace.name, value: 'x' },
    ],
  ],
  [
    { resources: { limits: { memory: '1Gi' } } },
    container('resources'),
    { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '1Gi' } },
  ],
  [{ nodeSelector: { a: 'b' } }, pod('nodeSelector'), undefined, { a: 'b' }],
  [{ tolerations: [toleration] }, pod('tolerations'), undefined, [toleration]],
  [{ affinity: { nodeAffinity: {} } }, pod('affinity'), undefined, { nodeAffinity: {} }],
  [{ topologySpreadConstraints: [spread] }, pod('topologySpreadConstraints'), undefined, [spread]],
  [{ priorityClassName: 'high' }, pod('priorityClassName'), undefined, 'high'],
  [
    { podAnnotations: { a: 'b' } },
    (_, { spec }) => spec.template.metadata.annotations['a'],
    undefined,
    'b',
  ],
  [{ podLabels: { a: 'b' } }, (_, { spec }) => spec.template.metadata.labels['a'], undefined, 'b'],
  [
    { serviceAccount: { create: false } },
    has('ServiceAccount shops-controller-manager'),
    true,
    false,
  ],
  [
    { serviceAccount: { name: 'own' } },
    pod('serviceAccountName'),
    'shops-controller-manager',
    'own',
  ],
  [
    { serviceAccount: { name: 'own' } },
    (objects) => JSON.stringify(objects).split('"name":"own"').length - 1,
    0,
    // The role itself, and four bindings.
    5,
  ],
  [
    { serviceAccount: { annotations: { a: 'b' } } },
    (objects) => objects.find(({ kind }) => kind === 'ServiceAccount')?.metadata.annotations,
    undefined,
    { a: 'b' },
  ],
  [
    { crds: { install: false } },
    has('CustomResourceDefinition shops.shop.example.com'),
    true,
    false,
  ],
  [{ crds: { keep: false } }, keeps, true, false],
  [{ metrics: { enabled: false } }, has('Service shops-controller-manager-metrics'), true, false],
  [{ metrics: { enabled: false } }, argument('--no-metrics'), false, true],
  [{ metrics: { enabled: false } }, argument('--metrics-port=8443'), true, false],
  [{ metrics: { enabled: false } }, port('metrics'), true, false],
  [
    { metrics: { serviceMonitor: { enabled: true } } },
    has('ServiceMonitor shops-controller-manager-metrics'),
    false,
    true,
  ],
  [{ networkPolicy: { enabled: true } }, has('NetworkPolicy shops-allow-metrics'), false, true],
  [{ networkPolicy: { enabled: true } }, has('NetworkPolicy shops-allow-webhook'), false, true],
  [
    { networkPolicy: { enabled: true, metricsFrom: [{ podSelector: {} }] } },
    peers('shops-allow-metrics'),
    undefined,
    [{ podSelector: {} }],
  ],
  [
    { networkPolicy: { enabled: true, webhookFrom: [{ ipBlock: { cidr: '192.0.2.0/28' } }] } },
    peers('shops-allow-webhook'),
    undefined,
    [{ ipBlock: { cidr: '192.0.2.0/28' } }],
  ],
  [
    { networkPolicy: { enabled: true, webhookFrom: [] } },
    peers('shops-allow-webhook'),
    undefined,
    undefined,
  ],
  [{ metrics: { auth: false } }, argument('--metrics-auth'), true, false],
  [{ metrics: { auth: false } }, has('ClusterRole shops-metrics-auth-role'), true, false],
  [
    { metrics: { auth: false } },
    has('RoleBinding shops-metrics-certificates-rolebinding'),
    true,
    false,
  ],
  [{ metrics: { enabled: false } }, argument('--metrics-auth'), true, false],
  [{ metrics: { enabled: false } }, has('Role shops-metrics-certificates-role'), true, false],
  [{ metrics: { serviceMonitor: { enabled: true } } }, scheme, undefined, 'https'],
  [{ metrics: { auth: false, serviceMonitor: { enabled: true } } }, scheme, undefined, undefined],
  [
    { podDisruptionBudget: { enabled: false } },
    has('PodDisruptionBudget shops-controller-manager'),
    true,
    false,
  ],
  [{ podDisruptionBudget: { maxUnavailable: '50%' } }, maxUnavailable, 1, '50%'],
  [{ rbac: { create: false } }, countOf(/^(?:Cluster)?Role(?:Binding)?$/), 15, 0],
  [
    { podSecurityContext: { runAsUser: null, fsGroup: 1 } },
    pod('securityContext'),
    { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
    { runAsNonRoot: true, fsGroup: 1, seccompProfile: { type: 'RuntimeDefault' } },
  ],
  [
    { securityContext: { readOnlyRootFilesystem: false } },
    container('securityContext'),
    { ...hardened, readOnlyRootFilesystem: true },
    { ...hardened, readOnlyRootFilesystem: false },
  ],
  [
    { extraVolumes: [{ name: 'ca', emptyDir: {} }] },
    pod('volumes'),
    undefined,
    [{ name: 'ca', emptyDir: {} }],
  ],
  [
    { extraVolumeMounts: [{ name: 'ca', mountPath: '/ca' }] },
    container('volumeMounts'),
    undefined,
    [{ name: 'ca', mountPath: '/ca' }],
  ],
  [{ webhook: { enabled: false } }, has('Service shops-webhook-service'), true, false],
  [
    { webhook: { enabled: false } },
    has('ValidatingWebhookConfiguration shops-validating-webhook-configuration'),
    true,
    false,
  ],
  [{ webhook: { enabled: false } }, argument('--no-webhooks'), false, true],
  [{ webhook: { enabled: false } }, port('webhook'), true, false],
];

const refused = [
  { replica: 2 },
  { replicas: 'two' },
  { image: { digest: 'x' } },
  { logLevel: 'loud' },
  { env: { DNS_PORT: 8080 } },
  { webhook: { enable: false } },
  { podDisruptionBudget: { maxUnavailable: 'one' } },
  { metrics: { auth: 'yes' } },
  { extraVolumeMounts: [{ name: 'a' }] },
];

describe('the Helm chart of a generated project', () => {
  const file = scratchDirectory();
  let chart: ChartResult;

  before(async function () {
    // Helm may have to be built first.
    this.timeout(600_000);
    await makeProject(file('shops'), ['Shop'], ['Fleet', 'v1', '--no-namespaced']);
    const webhook = ['--group', 'shop', '--version', 'v1alpha1', '--kind', 'Shop'];
    const made = await cli([
      ...['create', 'webhook', ...webhook, '--defaulting', '--validation'],
      ...['-C', file('shops')],
    ]);
    expect(made).to.include({ code: 0 });
    const manager = file('shops/config/manager/manager.yaml');
    const text = await readFile(manager, 'utf8');
    const variable = `            - ${JSON.stringify(own)}\n          ports:\n`;
    await writeFile(manager, text.replace('          ports:\n', variable));
    expect(await cli(['helm', '--project', file('shops')])).to.include({ code: 0 });
    const all = [{}, {}, ...switches.map(([values]) => values), ...refused];
    const renderings = all.map((values, index) => {
      return { release: 'any', namespace: index === 1 ? '123' : 'shops-system', values };
    });
    chart = await renderChart(file('shops/charts/shops'), renderings);
  });

  function objectsOf(rendered: Rendered | undefined): readonly BuiltObject[] {
    expect(rendered?.error).to.equal('');
    const documents = parseAllDocuments(rendered?.manifest ?? '');
    return (documents as readonly { toJS(): unknown }[]).map((one) => one.toJS() as BuiltObject);
  }

  /** Removes Helm's intentional additions. */
  function bare(object: BuiltObject): BuiltObject {
    const { annotations, labels, ...metadata } = object.metadata;
    const ofCharts = /^helm\.sh\/|^app\.kubernetes\.io\/(?:instance|managed-by)$/;
    const without = (texts: Readonly<Record<string, string>> = {}): object | undefined => {
      const kept = Object.entries(texts).filter(([name]) => !ofCharts.test(name));
      return kept.length === 0 ? undefined : Object.fromEntries(kept);
    };
    const own = { annotations: without(annotations), labels: without(labels) };
    return { ...object, metadata: { ...metadata, ...omitBy(own, isUndefined) } };
  }

  const keyOf = ({ kind, metadata: { namespace = '', name = '' } }: BuiltObject): string =>
    `${kind} ${namespace}/${name}`;
  const byName = (objects: readonly BuiltObject[]): Readonly<Record<string, BuiltObject>> =>
    Object.fromEntries(objects.map((object) => [keyOf(object), bare(object)]));

  it('passes helm lint without a finding', () => {
    expect(chart.lint).to.deep.equal(['[INFO] Chart.yaml: icon is recommended']);
  });

  it('labels every object with its chart and release', () => {
    for (const { kind, metadata } of objectsOf(chart.results[0])) {
      expect(metadata.labels, `${kind} ${metadata.name ?? ''}`).to.include({
        'helm.sh/chart': 'shops-0.1.0',
        'app.kubernetes.io/instance': 'any',
        'app.kubernetes.io/managed-by': 'Helm',
      });
    }
  });

  it('renders to the objects of config/default, except the Namespace', async () => {
    const built = await buildKustomization(file('shops/config/default'));
    const expected = built.filter(({ kind }) => kind !== 'Namespace');
    expect(byName(objectsOf(chart.results[0]))).to.deep.equal(byName(expected));
  });

  it('renders to the objects of declarative operators', async function () {
    this.timeout(600_000);
    const folder = file('declarative');
    const operator = await readFile('samples/declarative/service-health/operator.yaml', 'utf8');
    await writeFile(file('health.yaml'), `# {{ no action }}\n${operator}`);
    const command = ['declarative', 'manifests', file('health.yaml'), '--api-server', '-d', folder];
    expect(await cli(command)).to.include({ code: 0 });
    expect(await cli(['helm', '--project', folder])).to.include({ code: 0 });
    const namespace = 'service-health-system';
    const off = { leaderElection: { enabled: false }, metrics: { enabled: false } };
    const { lint, results } = await renderChart(`${folder}/charts/service-health`, [
      { release: 'any', namespace, values: {} },
      { release: 'any', namespace: 'other', values: off },
    ]);
    expect(lint).to.have.length(1);
    const built = await buildKustomization(`${folder}/config/default`);
    const expected = built.filter(({ kind }) => kind !== 'Namespace');
    expect(byName(objectsOf(results[0]))).to.deep.equal(byName(expected));
    const objects = objectsOf(results[1]);
    expect(JSON.stringify(objects)).to.not.include(namespace);
    const deployment = objects.find(({ kind }) => kind === 'Deployment') as Deployment;
    expect(container('args')(objects, deployment)).to.deep.equal([
      ...['declarative', 'run', '/operators', '--health-port=8081', '--api-server-port=18443'],
      ...['--api-server-host=0.0.0.0', '--api-server-keys=/view-keys'],
    ]);
    const values = await readFile(`${folder}/charts/service-health/values.yaml`, 'utf8');
    expect(values).to.not.match(/webhook/);
  });

  /** Adds parts that look as if they belonged to the webhooks, but do not. */
  async function mountOwn(path: string): Promise<void> {
    const text = await readFile(path, 'utf8');
    const volumes = '      volumes: [{ name: ca-certificates, emptyDir: {} }]\n      containers:\n';
    const mounts = '          volumeMounts: [{ name: ca-certificates, mountPath: /ca }]\n';
    const changed = text
      .replace('      containers:\n', volumes)
      .replace('          livenessProbe:\n', `${mounts}          livenessProbe:\n`);
    await writeFile(path, changed);
  }

  it('renders to the objects of config/default with all options of config/default enabled', async function () {
    this.timeout(600_000);
    const folder = file('all');
    await makeProject(folder, ['Shop'], ['Shop', 'v1']);
    const webhook = ['--group', 'shop', '--kind', 'Shop', '-C', folder];
    for (const args of [
      ['--version', 'v1alpha1', '--validation'],
      ['--version', 'v1', '--conversion'],
    ]) {
      expect(await cli(['create', 'webhook', ...webhook, ...args])).to.include({ code: 0 });
    }
    const overlay = `${folder}/config/default`;
    const text = await readFile(`${overlay}/kustomization.yaml`, 'utf8');
    const options = text
      .replaceAll('# - ../', '- ../')
      .replace('components:\n', 'components:\n  - ../certmanager\n');
    await writeFile(`${overlay}/kustomization.yaml`, options);
    await holdTo(folder, 'a', 'b');
    await mountOwn(`${folder}/config/manager/manager.yaml`);
    expect(await cli(['helm', '--project', folder])).to.include({ code: 0 });
    const { lint, results } = await renderChart(`${folder}/charts/shops`, [
      { release: 'any', namespace: 'shops-system', values: {} },
      { release: 'any', namespace: 'other', values: {} },
      { release: 'any', namespace: 'other', values: { webhook: { enabled: false } } },
    ]);
    expect(lint).to.have.length(1);
    const roles = await buildKustomization(`${folder}/config/namespaces`);
    const built = await buildKustomization(overlay);
    const expected = [...built, ...roles].filter(({ kind }) => kind !== 'Namespace');
    expect(byName(objectsOf(results[0]))).to.deep.equal(byName(expected));
    expect(JSON.stringify(objectsOf(results[1]))).to.not.include('shops-system');
    const without = JSON.stringify(objectsOf(results[2]));
    expect(without.match(/ca-certificates/g)).to.have.length(2);
    expect(without).to.not.match(/cert-manager|"conversion"|webhook-server-cert|9443/);
  });

  it('renders every object into the namespace of the release', () => {
    const text = JSON.stringify(objectsOf(chart.results[1]));
    expect(text).to.not.include('shops-system');
    expect(text).to.include('"namespace":"123"');
  });

  it('prints notes that say where the operator runs, and which objects helm uninstall keeps', () => {
    expect(chart.results[0]?.notes)
      .to.include('in the namespace shops-system')
      .and.include('crds.keep');
  });

  for (const [index, [values, effect, before, after]] of switches.entries()) {
    it(`renders objects as the values ${JSON.stringify(values)} demand (${index})`, () => {
      const seen = [chart.results[0], chart.results[index + 2]].map((rendered) => {
        const objects = objectsOf(rendered);
        const deployment = objects.find(({ kind }) => kind === 'Deployment');
        return effect(objects, deployment as Deployment);
      });
      expect(seen).to.deep.equal([before, after]);
    });
  }

  for (const [index, values] of refused.entries()) {
    it(`rejects the values ${JSON.stringify(values)}`, () => {
      const { error } = chart.results[switches.length + 2 + index] ?? {};
      expect(error).to.include("values don't meet the specifications of the schema");
    });
  }

  it('renders to objects that a real API server accepts', async () => {
    const { kubeConfigPath } = await sharedControlPlane();
    const admin = await Kubectl.create((path) => copyFile(kubeConfigPath, path));
    // Other specs apply objects of these names, and may be about to delete them.
    const manifest = (chart.results[0]?.manifest ?? '')
      .replaceAll('shops-', 'helmed-')
      .replaceAll('shop.example.com', 'shop.helm.example.net');
    const apply = ['apply', '--server-side', '-f', '-'];
    try {
      await admin.print(['create', 'namespace', 'helmed-system']);
      const applied = await admin.print(apply, manifest);
      expect(applied).to.include('helmed-controller-manager serverside-applied');
    } finally {
      await admin.run(['delete', '--wait=false', '-f', '-'], manifest);
      await admin.run(['delete', 'namespace', 'helmed-system', '--wait=false']);
      await admin.close();
    }
  });
});
