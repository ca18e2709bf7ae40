import omit from 'lodash/omit.js';
import { encodedData } from '../../hash/data-hash.js';
import type { ConfigurationData } from '../../hash/data-hash.js';
import { isJsonObject, withoutMember } from '../../object/json.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { labelValueOf } from '../../object/label-value.js';
import type { LifecycleObject } from '../lifecycle-status.js';

/** Labels of the configuration that its objects inherit: the system that they belong to, and its version. */
const inherited = ['app.kubernetes.io/part-of', 'app.kubernetes.io/version'];

/** Metadata that only the server sets. */
const ofTheServer = [
  ...['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp'],
  ...['deletionGracePeriodSeconds', 'managedFields', 'selfLink'],
];

/**
 * Returns a desired object as plain data, without status and server-set metadata, with the labels of its
 * configuration. Pod templates get the labels too; selectors never do, since they are immutable.
 */
export function completedObject(object: KubernetesObject, cr: LifecycleObject): UnstructuredObject {
  const labels = inheritedLabels(cr);
  const entries = Object.entries(object).filter(([name]) => !isOfOthers(object, name));
  const plain = encodedSecret(Object.fromEntries(entries) as unknown as UnstructuredObject);
  const metadata = withLabels(metadataOf(plain), labels);
  const complete = { ...plain, metadata };
  return withTemplateLabels(complete, labels);
}

// The rules of an aggregated role belong to the aggregation controller, which would restore them forever.
function isOfOthers(object: KubernetesObject, name: string): boolean {
  return name === 'status' || (name === 'rules' && 'aggregationRule' in object);
}

// The server stores no `stringData`: it would look like drift in each reconcile.
function encodedSecret(object: UnstructuredObject): UnstructuredObject {
  const { apiVersion, kind, stringData } = object;
  if (apiVersion !== 'v1' || kind !== 'Secret' || !isJsonObject(stringData)) return object;
  // For other values, the server returns the error.
  if (!Object.values(stringData).every((text) => typeof text === 'string')) return object;
  return { ...withoutMember(object, 'stringData'), data: encodedData(object as ConfigurationData) };
}

/** Converts a version to a label value. */
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

// Deployments, StatefulSets and DaemonSets have a Pod template; a CronJob has one inside its Job template.
// The template of a Job is immutable: after a change of a label of the configuration, the server would reject
// every update.
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

// Labels that select Pods must match the selector, which is immutable.
function withoutSelected(labels: Labels, selector: unknown): Labels {
  const selected = isJsonObject(selector) ? selector['matchLabels'] : undefined;
  return isJsonObject(selected) ? omit(labels, Object.keys(selected)) : labels;
}

function labelledTemplate(template: Readonly<Record<string, unknown>>, labels: Labels): object {
  const metadata = isJsonObject(template['metadata']) ? template['metadata'] : {};
  return { ...template, metadata: withLabels(metadata, labels) };
}
