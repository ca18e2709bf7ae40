import partition from 'lodash/partition.js';
import { isJsonObject } from '../../object/index.js';
import { TemplateText, linesWith, spreadLines, textLines, valueLines } from './values.js';
import type { TemplateLines } from './values.js';
import { objectAt, objectMadeAt, objectsAt, textAt, textsOf } from '../json-values.js';
import type { Json } from '../json-values.js';
import { templateEnv, variablesOf } from './manager-env.js';
import { managerDeployment, movedText, withoutReferences } from './overlay.js';

/** The facts that all templates of a chart share. */
export interface ChartFacts {
  readonly name: string;
  /** The operator's namespace in `config/`; a release has another. */
  readonly namespace: string;
  /** Names of the operator's Deployment and ServiceAccount. */
  readonly manager: string;
  readonly account: string;
}

/** Returns the template of an object; undefined if Helm itself handles the object. */
export function objectTemplate(source: object, facts: ChartFacts): string | undefined {
  const object = structuredClone(source) as Json;
  const text = new TemplateText();
  const metadata = objectMadeAt(object, 'metadata');
  const [kind, name] = [textAt(object, 'kind'), textAt(metadata, 'name')];
  if (kind === 'Namespace' && name === facts.namespace) return undefined;
  if (kind === 'CustomResourceDefinition') return crdTemplate(object, { text, facts });
  const conditions = conditionsOf(object, kind);
  if (kind === 'ServiceAccount' && name === facts.account) {
    conditions.push('.Values.serviceAccount.create');
    templateAccount(metadata, { text, facts });
  }
  if (kind === 'Deployment' && name === facts.manager) templateManager(object, { text, facts });
  if (kind === 'NetworkPolicy') templatePolicy(object, text);
  if (kind === 'PodDisruptionBudget') templateBudget(objectMadeAt(object, 'spec'), text);
  if (kind === 'ServiceMonitor') templateEndpoints(objectMadeAt(object, 'spec'), text);
  templateReferences(object, { text, facts });
  templateLabels(metadata, { text, facts });
  return guarded(conditions, text.textOf(object));
}

function templateAccount(metadata: Json, { text, facts }: Templating): void {
  const annotations = objectAt(metadata, 'annotations');
  const path = 'serviceAccount.annotations';
  if (annotations === undefined) metadata[text.lines(valueLines('annotations', path))] = null;
  else annotations[text.lines(spreadLines(path))] = null;
  metadata['name'] = accountName(text, facts);
}

function templateBudget(spec: Json, text: TemplateText): void {
  if (spec['maxUnavailable'] === undefined) return;
  spec['maxUnavailable'] = text.inline('.Values.podDisruptionBudget.maxUnavailable');
}

/** Makes the scheme, the token and the TLS settings of a ServiceMonitor conditional on metrics over HTTPS. */
function templateEndpoints(spec: Json, text: TemplateText): void {
  const ofHttps = new Set(['scheme', 'bearerTokenFile', 'tlsConfig']);
  const isConditional = (member: string): boolean => ofHttps.has(member);
  spec['endpoints'] = objectsAt(spec, 'endpoints').map((endpoint) =>
    withConditions(endpoint, { text, condition: '.Values.metrics.auth', isConditional }),
  );
}

const chartLabels = [
  'helm.sh/chart',
  'app.kubernetes.io/instance',
  'app.kubernetes.io/managed-by',
] as const;

/** Adds the conventional labels of charts, and removes the labels of `config/` with the same names. */
function templateLabels(metadata: Json, { text, facts }: Templating): void {
  const labels = objectMadeAt(metadata, 'labels');
  for (const name of chartLabels) Reflect.deleteProperty(labels, name);
  const lines: TemplateLines = (indent) => [
    `${' '.repeat(indent)}{{- include "${facts.name}.labels" . | nindent ${indent} }}`,
  ];
  labels[text.lines(lines)] = null;
}

function guarded(conditions: readonly string[], text: string): string {
  const [first, ...others] = conditions;
  if (first === undefined) return text;
  const condition = others.length === 0 ? first : `and ${conditions.join(' ')}`;
  return `{{- if ${condition} }}\n${text}{{- end }}\n`;
}

function conditionsOf(object: Json, kind: string): string[] {
  const metrics = '.Values.metrics.enabled';
  if (kind === 'PodDisruptionBudget') return ['.Values.podDisruptionBudget.enabled'];
  if (/^(?:Cluster)?Role(?:Binding)?$/.test(kind)) return conditionsOfRole(object, metrics);
  if (kind === 'ServiceMonitor') return [metrics, '.Values.metrics.serviceMonitor.enabled'];
  if (kind === 'NetworkPolicy') return ['.Values.networkPolicy.enabled'];
  const isOfWebhook =
    kind.endsWith('WebhookConfiguration') ||
    textAt(object, 'apiVersion').startsWith('cert-manager.io/') ||
    hasPort(object, kind, 'webhook');
  if (isOfWebhook) return ['.Values.webhook.enabled'];
  return hasPort(object, kind, 'metrics') ? [metrics] : [];
}

/** Returns the conditions of a role: roles for metrics over HTTPS also depend on the values of these metrics. */
function conditionsOfRole(object: Json, metrics: string): string[] {
  const name = textAt(objectAt(object, 'metadata'), 'name');
  const isOfMetrics = /-metrics-(?:auth|certificates)-role(?:binding)?$/.test(name);
  return ['.Values.rbac.create', ...(isOfMetrics ? [metrics, '.Values.metrics.auth'] : [])];
}

function hasPort(object: Json, kind: string, name: string): boolean {
  const ports = objectsAt(objectAt(object, 'spec') ?? {}, 'ports');
  return kind === 'Service' && ports.some((port) => port['name'] === name);
}

interface Templating {
  readonly text: TemplateText;
  readonly facts: ChartFacts;
}

/** Returns the template of a definition. Its schemas have no Helm actions, because they may contain any text. */
function crdTemplate(object: Json, { text, facts }: Templating): string {
  const metadata = objectMadeAt(object, 'metadata');
  const spec = objectMadeAt(object, 'spec');
  templateReferences(metadata, { text, facts });
  const onlyWithWebhook = (member: string): boolean =>
    member === 'conversion' || member.startsWith('cert-manager.io/');
  templateLabels(metadata, { text, facts });
  const ofWebhook = { text, condition: '.Values.webhook.enabled', isConditional: onlyWithWebhook };
  metadata['annotations'] = withConditions(objectMadeAt(metadata, 'annotations'), ofWebhook);
  const annotations = objectMadeAt(metadata, 'annotations');
  annotations[text.line('if .Values.crds.keep')] = null;
  annotations['helm.sh/resource-policy'] = 'keep';
  annotations[text.line('end')] = null;
  const { conversion } = spec;
  if (isJsonObject(conversion)) {
    templateReferences(conversion, { text, facts });
    object['spec'] = withConditions(spec, ofWebhook);
  }
  return guarded(['.Values.crds.install'], text.textOf(object));
}

interface Conditional {
  readonly text: TemplateText;
  readonly condition: string;
  readonly isConditional: (member: string) => boolean;
}

/** Returns an object with its conditional members last: a list item must begin with an unconditional member. */
function withConditions(object: Json, { text, condition, isConditional }: Conditional): Json {
  const [optional, others] = partition(Object.entries(object), ([name]) => isConditional(name));
  if (optional.length === 0) return object;
  const [begin, end] = [text.line(`if ${condition}`), text.line('end')];
  return Object.fromEntries([...others, [begin, null], ...optional, [end, null]]);
}

function accountName(text: TemplateText, { account }: ChartFacts): string {
  return text.inline(`.Values.serviceAccount.name | default "${account}" | quote`);
}

/** Replaces the operator's namespace and account by the release's. */
function templateReferences(value: unknown, { text, facts }: Templating): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (typeof item === 'string')
        (value as unknown[])[index] = inNamespace(item, { text, facts });
      else templateReferences(item, { text, facts });
    }
    return;
  }
  if (!isJsonObject(value)) return;
  const object = value as Json;
  const isAccount = object['kind'] === 'ServiceAccount' && object['name'] === facts.account;
  if (isAccount) object['name'] = accountName(text, facts);
  for (const [name, member] of Object.entries(object)) {
    if (withoutReferences.has(name)) continue;
    if (typeof member !== 'string') {
      templateReferences(member, { text, facts });
    } else if (name === 'namespace' && member === facts.namespace) {
      object[name] = text.inline('.Release.Namespace | quote');
    } else if (name === 'serviceAccountName' && member === facts.account) {
      object[name] = accountName(text, facts);
    } else {
      object[name] = inNamespace(member, { text, facts });
    }
  }
}

function inNamespace(value: string, { text, facts }: Templating): string {
  const to = text.inline('.Release.Namespace');
  return movedText(value, { from: facts.namespace, to });
}

/** Fields of the pod that a value replaces as a whole, with the names of the values. */
const podValues = [
  ['imagePullSecrets', 'imagePullSecrets'],
  ['nodeSelector', 'nodeSelector'],
  ['tolerations', 'tolerations'],
  ['affinity', 'affinity'],
  ['topologySpreadConstraints', 'topologySpreadConstraints'],
  ['securityContext', 'podSecurityContext'],
] as const;

/** Fields of the container that a value replaces as a whole. */
const containerValues = ['resources', 'securityContext'] as const;

/** The values of the operator's Deployment; other fields stay as in `config/`. */
interface ManagerValues {
  readonly image: { readonly name: string; readonly pullPolicy: string };
  readonly replicas: unknown;
  readonly priorityClassName: string;
  readonly logLevel: string;
  readonly leaderElection: boolean;
  readonly metricsAuth: boolean;
  /** Whether the program can have webhooks. */
  readonly webhooks: boolean;
  /** Environment variables by name. */
  readonly env: Readonly<Record<string, string>>;
  /** Fields of the pod and its container by the names of the values. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export function managerValues(objects: readonly object[], from: string): ManagerValues {
  const { deployment, podSpec, container } = managerDeployment(objects, from);
  const args = textsOf(container['args']);
  const pod = podValues.map(([member, name]) => [name, podSpec[member]] as const);
  const own = containerValues.map((name) => [name, container[name]] as const);
  return {
    image: { name: textAt(container, 'image'), pullPolicy: textAt(container, 'imagePullPolicy') },
    replicas: objectAt(deployment, 'spec')?.['replicas'] ?? 1,
    priorityClassName: textAt(podSpec, 'priorityClassName'),
    logLevel: args.find((arg) => arg.startsWith(logLevelFlag))?.slice(logLevelFlag.length) ?? '',
    leaderElection: args.some(isElection),
    metricsAuth: args.some(isAuth),
    webhooks: !isDeclarative(args),
    env: variablesOf(container, textAt(objectAt(deployment, 'metadata'), 'namespace')),
    fields: Object.fromEntries([...pod, ...own]),
  };
}

const logLevelFlag = '--log-level=';
const electFlag = '--leader-elect';
const authFlag = '--metrics-auth';
const planFlag = '--plan';
/** First argument of a Deployment that runs `operator-builder declarative run`. */
const declarativeCommand = 'declarative';

/** Matches the flag of a program of `init` and the option of `declarative run`. */
function isElection(arg: string): boolean {
  return arg === electFlag || arg.startsWith('--leader-election=');
}

/** Whether `args` run `declarative run`, which elects a leader and serves metrics only with the options for that. */
function isDeclarative(args: readonly string[]): boolean {
  return args[0] === declarativeCommand;
}

function isAuth(arg: string): boolean {
  return arg === authFlag || arg.startsWith(`${authFlag}=`);
}

/** Replaces fields of the Deployment by values. @param deployment - changed in place */
function templateManager(deployment: Json, { text, facts }: Templating): void {
  const { podSpec, container } = managerDeployment([deployment], 'the chart');
  const spec = objectMadeAt(deployment, 'spec');
  spec['replicas'] = text.inline('.Values.replicas');
  templateMetadata(objectMadeAt(spec, 'template'), text);
  for (const [member, value] of podValues) {
    Reflect.deleteProperty(podSpec, member);
    podSpec[text.lines(valueLines(member, value))] = null;
  }
  Reflect.deleteProperty(podSpec, 'priorityClassName');
  podSpec[text.lines(textLines('priorityClassName', 'priorityClassName'))] = null;
  templateContainer(container, { text, facts });
  templateVolumes(podSpec, container, text);
}

function templateMetadata(template: Json, text: TemplateText): void {
  const metadata = objectMadeAt(template, 'metadata');
  for (const [member, value] of [
    ['annotations', 'podAnnotations'],
    ['labels', 'podLabels'],
  ] as const) {
    const own = objectAt(metadata, member);
    if (own === undefined) metadata[text.lines(valueLines(member, value))] = null;
    else own[text.lines(spreadLines(value))] = null;
  }
}

function templateContainer(container: Json, { text, facts }: Templating): void {
  container['image'] = text.inline(`include "${facts.name}.image" . | quote`);
  Reflect.deleteProperty(container, 'imagePullPolicy');
  container[text.lines(textLines('imagePullPolicy', 'image.pullPolicy'))] = null;
  container['args'] = templatedArgs(textsOf(container['args']), text);
  templateEnv(container, text, facts.namespace);
  for (const name of containerValues) {
    Reflect.deleteProperty(container, name);
    container[text.lines(valueLines(name, name))] = null;
  }
  const { ports } = container;
  if (Array.isArray(ports)) container['ports'] = ports.flatMap((port) => templatedPort(port, text));
}

function templatedArgs(args: readonly string[], text: TemplateText): readonly string[] {
  const own = args.filter((arg) => !arg.startsWith(logLevelFlag));
  const level = text.lines(linesWith('logLevel', () => [`- ${logLevelFlag}{{ . }}`]));
  const isFixed = isDeclarative(own);
  const withElection = isFixed || own.some(isElection) ? own : [...own, electFlag];
  const switches = isFixed
    ? []
    : [
        ...only('not .Values.metrics.enabled', ['--no-metrics'], text),
        ...only('not .Values.webhook.enabled', ['--no-webhooks'], text),
      ];
  return [
    ...withElection.flatMap((arg) => templatedArg(arg, text)),
    ...switches,
    level,
    text.lines(spreadLines('extraArgs')),
  ];
}

const authCondition = 'and .Values.metrics.enabled .Values.metrics.auth';

/** Makes an argument of an optional part conditional on that part. */
function templatedArg(arg: string, text: TemplateText): readonly string[] {
  if (isElection(arg)) return only('.Values.leaderElection.enabled', [arg], text);
  if (isAuth(arg) || arg === planFlag) return only(authCondition, [arg], text);
  const [, part] = /^--(metrics|webhook)-/.exec(arg) ?? [];
  return part === undefined ? [arg] : only(`.Values.${part}.enabled`, [arg], text);
}

function only<T>(condition: string, items: readonly T[], text: TemplateText) {
  return [text.line(`if ${condition}`), ...items, text.line('end')];
}

function templatedPort(port: unknown, text: TemplateText): readonly unknown[] {
  const name = isJsonObject(port) ? textAt(port, 'name') : '';
  const part = /^(metrics|webhook)\b/.exec(name)?.[1];
  return part === undefined ? [port] : only(`.Values.${part}.enabled`, [port], text);
}

/** Adds the volumes of the values; mounts the webhooks' certificate only with webhooks. */
function templateVolumes(podSpec: Json, container: Json, text: TemplateText): void {
  const isCertificate = (volume: Json): boolean =>
    textAt(objectAt(volume, 'secret'), 'secretName').endsWith('-webhook-server-cert');
  const certificates = objectsAt(podSpec, 'volumes').filter(isCertificate);
  const names = new Set(certificates.map(({ name }) => name));
  for (const [object, member, value] of [
    [podSpec, 'volumes', 'extraVolumes'],
    [container, 'volumeMounts', 'extraVolumeMounts'],
  ] as const) {
    const own = objectsAt(object, member).flatMap((item) =>
      names.has(item['name']) ? only('.Values.webhook.enabled', [item], text) : [item],
    );
    Reflect.deleteProperty(object, member);
    if (own.length === 0) object[text.lines(valueLines(member, value))] = null;
    else object[member] = [...own, text.lines(spreadLines(value))];
  }
}

const parts = ['metrics', 'webhook'] as const;

/** The name of a port of the operator. Each port has its own rule in a NetworkPolicy. */
type Part = (typeof parts)[number];

/** Returns the peers that may reach each port, from the first rule of a NetworkPolicy for the port. */
export function peersOf(objects: readonly object[]): ReadonlyMap<Part, unknown> {
  const rules = (objects as readonly Json[]).flatMap(rulesOf).toReversed();
  return new Map(rules.map(({ part, rule }) => [part, rule['from'] ?? []]));
}

/** Replaces the peers of each port by values of the chart. @param policy - changed in place */
function templatePolicy(policy: Json, text: TemplateText): void {
  for (const { part, rule } of rulesOf(policy)) {
    Reflect.deleteProperty(rule, 'from');
    rule[text.lines(valueLines('from', `networkPolicy.${part}From`))] = null;
  }
}

/** Returns the rules of a NetworkPolicy, each with its part. */
function rulesOf(object: Json): readonly { part: Part; rule: Json }[] {
  if (textAt(object, 'kind') !== 'NetworkPolicy') return [];
  return objectsAt(objectAt(object, 'spec') ?? {}, 'ingress').flatMap((rule) => {
    const ports = objectsAt(rule, 'ports').map(({ port }) => port);
    const part = parts.find((name) => ports.includes(name));
    return part === undefined ? [] : [{ part, rule }];
  });
}
