import partition from 'lodash/partition.js';
import { isJsonObject } from '../../object/json.js';
import type { Json } from '../json-values.js';
import { objectAt, objectMadeAt, objectsAt, textAt } from '../json-values.js';
import { movedText } from '../package/overlay.js';
import { templateManager } from './manager-template.js';
import { templatePolicy } from './network-policy-template.js';
import { TemplateText, spreadLines, valueLines } from './template-text.js';
import type { TemplateLines } from './template-text.js';

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
  if (kind === 'Deployment' && name === facts.manager) templateManager(object, text, facts.name);
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

/** Makes the scheme and the token conditional on metrics over HTTPS. */
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

/** Makes the rules for metrics over HTTPS conditional on them. */
function conditionsOfRole(object: Json, metrics: string): string[] {
  const name = textAt(objectAt(object, 'metadata'), 'name');
  const isOfMetrics = /-metrics-(?:auth|certificates)-role(?:binding)?$/.test(name);
  return ['.Values.rbac.create', ...(isOfMetrics ? [metrics, '.Values.metrics.auth'] : [])];
}

function hasPort(object: Json, kind: string, name: string): boolean {
  const ports = kind === 'Service' ? objectAt(object, 'spec')?.['ports'] : undefined;
  return Array.isArray(ports) && ports.some((port) => isJsonObject(port) && port['name'] === name);
}

interface Templating {
  readonly text: TemplateText;
  readonly facts: ChartFacts;
}

/** Leaves schemas without actions: they may contain any text. */
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

/**
 * Returns an object with its conditional members last: a list item must begin with an unconditional
 * member.
 */
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
