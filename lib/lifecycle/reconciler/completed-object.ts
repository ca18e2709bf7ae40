import omit from 'lodash/omit.js';
import { encodedData } from '../../hash/data-hash.js';
import type { ConfigurationData } from '../../hash/data-hash.js';
import { isJsonObject, withoutMember } from '../../object/json.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { labelValueOf } from '../../object/label-value.js';
import type { LifecycleObject } from '../lifecycle-status.js';

/** Labels of the configuration that its objects have too: which system they are of, and its version. */
const inherited = ['app.kubernetes.io/part-of', 'app.kubernetes.io/version'];

/** What only the server sets. */
const ofTheServer = [
  ...['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp'],
  ...['deletionGracePeriodSeconds', 'managedFields', 'selfLink'],
];

/**
 * A desired object, plain, without a status and what only the server sets, with the labels of its
 * configuration: on Pod templates too, never in a selector, which can't change.
 */
export function completedObject(object: KubernetesObject, cr: LifecycleObject): UnstructuredObject {
  const labels = inheritedLabels(cr);
  const entries = Object.entries(object).filter(([name]) => !isOfOthers(object, name));
  const plain = encodedSecret(Object.fromEntries(entries) as unknown as UnstructuredObject);
  const metadata = withLabels(metadataOf(plain), labels);
  const complete = { ...plain, metadata };
  return withTemplateLabels(complete, labels);
}

// The rules of a role that is made of others are their controller's, which would put them back for ever.
function isOfOthers(object: KubernetesObject, name: string): boolean {
  return name === 'status' || (name === 'rules' && 'aggregationRule' in object);
}

// The server stores no `stringData`: what is not there would be a difference in each pass.
function encodedSecret(object: UnstructuredObject): UnstructuredObject {
  const { apiVersion, kind, stringData } = object;
  if (apiVersion !== 'v1' || kind !== 'Secret' || !isJsonObject(stringData)) return object;
  // The server will say what is wrong with others.
  if (!Object.values(stringData).every((text) => typeof text === 'string')) return object;
  return { ...withoutMember(object, 'stringData'), data: encodedData(object as ConfigurationData) };
}

/** A version as the value of a label. */
export function versionLabelOf(version: string): string {
  return labelValueOf(version);
}

type Labels = Readonly<Record<string, string>>;

function inheritedLabels({ metadata: { labels = {} } }: LifecycleObject): Labels {
  const own = inherited.filter((name) => labels[name] !== undefined);
  return Object.fromEntries(own.map((name) => [name, labels[name] ?? '']));
}

function metadataOf({ metadata }: UnstructuredObject): object {
  return Object.fromEntries(
    Object.entries(metadata).filter(([name]) => !ofTheServer.includes(name)),
  );
}

function withLabels(metadata: object, labels: Labels): object {
  if (Object.keys(labels).length === 0) return metadata;
  const own = 'labels' in metadata && isJsonObject(metadata.labels) ? metadata.labels : {};
  return { ...metadata, labels: { ...own, ...labels } };
}

// Deployments, StatefulSets and DaemonSets have one, a CronJob has one of a Job. That of a Job itself
// can't change: a label of the configuration that does would have it refused for ever.
function withTemplateLabels(object: UnstructuredObject, labels: Labels): UnstructuredObject {
  const spec = object['spec'];
  if (!isJsonObject(spec) || object.kind === 'Job' || Object.keys(labels).length === 0)
    return object;
  const { template, jobTemplate } = spec;
  if (isJsonObject(template)) {
    const own = withoutSelected(labels, spec['selector']);
    return { ...object, spec: { ...spec, template: labelledTemplate(template, own) } };
  }
  if (!isJsonObject(jobTemplate) || !isJsonObject(jobTemplate['spec'])) return object;
  const inner = jobTemplate['spec'];
  if (!isJsonObject(inner['template'])) return object;
  const labelled = { ...inner, template: labelledTemplate(inner['template'], labels) };
  return { ...object, spec: { ...spec, jobTemplate: { ...jobTemplate, spec: labelled } } };
}

// What Pods are selected by has to be as the selector says, which can't change.
function withoutSelected(labels: Labels, selector: unknown): Labels {
  const selected = isJsonObject(selector) ? selector['matchLabels'] : undefined;
  return isJsonObject(selected) ? omit(labels, Object.keys(selected)) : labels;
}

function labelledTemplate(template: Readonly<Record<string, unknown>>, labels: Labels): object {
  const metadata = isJsonObject(template['metadata']) ? template['metadata'] : {};
  return { ...template, metadata: withLabels(metadata, labels) };
}
