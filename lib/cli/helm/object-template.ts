import { isJsonObject } from '../../object/json.js';
import type { Json } from '../kustomize/json-values.js';
import { objectAt, objectMadeAt, textAt } from '../kustomize/json-values.js';
import { movedText } from '../package/moved-objects.js';
import { templateManager } from './manager-template.js';
import { TemplateText, spreadLines, valueLines } from './template-text.js';

/** What is the same for all templates of a chart. */
export interface ChartFacts {
  readonly name: string;
  /** Where `config/` puts the operator: a release has its own. */
  readonly namespace: string;
  /** The operator's Deployment, and its account. */
  readonly manager: string;
  readonly account: string;
}

/** The template of an object, undefined: Helm sees to it. */
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
    const annotations = objectAt(metadata, 'annotations');
    const path = 'serviceAccount.annotations';
    if (annotations === undefined) metadata[text.lines(valueLines('annotations', path))] = null;
    else annotations[text.lines(spreadLines(path))] = null;
    metadata['name'] = accountName(text, facts);
  }
  if (kind === 'Deployment' && name === facts.manager) templateManager(object, text, facts.name);
  templateReferences(object, { text, facts });
  return guarded(conditions, text.textOf(object));
}

function guarded(conditions: readonly string[], text: string): string {
  const [first, ...others] = conditions;
  if (first === undefined) return text;
  const condition = others.length === 0 ? first : `and ${conditions.join(' ')}`;
  return `{{- if ${condition} }}\n${text}{{- end }}\n`;
}

function conditionsOf(object: Json, kind: string): string[] {
  const metrics = '.Values.metrics.enabled';
  if (kind === 'ServiceMonitor') return [metrics, '.Values.metrics.serviceMonitor.enabled'];
  if (kind === 'NetworkPolicy') return ['.Values.networkPolicy.enabled'];
  const isOfWebhook =
    kind.endsWith('WebhookConfiguration') ||
    textAt(object, 'apiVersion').startsWith('cert-manager.io/') ||
    hasPort(object, kind, 'webhook');
  if (isOfWebhook) return ['.Values.webhook.enabled'];
  return hasPort(object, kind, 'metrics') ? [metrics] : [];
}

function hasPort(object: Json, kind: string, name: string): boolean {
  const ports = kind === 'Service' ? objectAt(object, 'spec')?.['ports'] : undefined;
  return Array.isArray(ports) && ports.some((port) => isJsonObject(port) && port['name'] === name);
}

interface Templating {
  readonly text: TemplateText;
  readonly facts: ChartFacts;
}

/** Of schemas nothing is an action: they may say anything. */
function crdTemplate(object: Json, { text, facts }: Templating): string {
  const metadata = objectMadeAt(object, 'metadata');
  const spec = objectMadeAt(object, 'spec');
  templateReferences(metadata, { text, facts });
  const onlyWithWebhook = (member: string): boolean =>
    member === 'conversion' || member.startsWith('cert-manager.io/');
  metadata['annotations'] = withConditions(objectMadeAt(metadata, 'annotations'), {
    text,
    isConditional: onlyWithWebhook,
  });
  const annotations = objectMadeAt(metadata, 'annotations');
  annotations[text.line('if .Values.crds.keep')] = null;
  annotations['helm.sh/resource-policy'] = 'keep';
  annotations[text.line('end')] = null;
  const { conversion } = spec;
  if (isJsonObject(conversion)) {
    templateReferences(conversion, { text, facts });
    object['spec'] = withConditions(spec, { text, isConditional: onlyWithWebhook });
  }
  return guarded(['.Values.crds.install'], text.textOf(object));
}

interface Conditional {
  readonly text: TemplateText;
  readonly isConditional: (member: string) => boolean;
}

/** An object some members of which are there with the webhooks only. */
function withConditions(object: Json, { text, isConditional }: Conditional): Json {
  const members = Object.entries(object).flatMap(
    (member): readonly (readonly [string, unknown])[] =>
      isConditional(member[0])
        ? [[text.line('if .Values.webhook.enabled'), null], member, [text.line('end'), null]]
        : [member],
  );
  return Object.fromEntries(members);
}

function accountName(text: TemplateText, { account }: ChartFacts): string {
  return text.inline(`.Values.serviceAccount.name | default "${account}" | quote`);
}

/** Where the namespace and the account of the operator are named, the release's are. */
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
