import { encodeSecret, ownershipOf } from '../../apply/index.js';
import { definedKinds, kindName } from '../../builder/index.js';
import { getIfExists } from '../../client/index.js';
import {
  describeObject,
  isJsonObject,
  jsonCopy,
  keyOf,
  withControllerReference,
} from '../../object/index.js';
import type {
  KubernetesObject,
  UnstructuredObject,
  ResourceType,
  TypeReference,
} from '../../object/index.js';
import { isOperatorError } from '../../system/index.js';
import type { Trouble } from '../conditions.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { identityOf } from './owned-objects.js';
import type { Pass } from './pass.js';
import { callUserCode } from './user-code.js';
import omit from 'lodash/omit.js';
import pick from 'lodash/pick.js';

/** A desired object, and its live state. */
export interface SurveyedObject {
  /** The type of the object; undefined if its kind is not served yet, because its CRD is desired too. */
  readonly type: ResourceType | undefined;
  /** The complete desired object, with its controller reference. */
  readonly desired: UnstructuredObject;
  /** The live object; undefined if it does not exist. */
  readonly current: UnstructuredObject | undefined;
}

/** The findings before any change. */
export interface Survey {
  readonly objects: readonly SurveyedObject[];
  /** Problems that prevent the deployment; each names its object and the remedy. */
  readonly problems: readonly string[];
  /** Existing objects without a controlling owner, which this configuration did not create. */
  readonly orphans: readonly SurveyedObject[];
}

/**
 * Compares all desired objects with the live ones. Writes nothing: a deployment that cannot complete is not
 * started.
 * @throws the errors of `getAllResources` and of reads.
 */
export async function survey(pass: Pass): Promise<Survey> {
  const wanted = await desiredList(pass);
  const coming = definedKinds(wanted.objects);
  const found = await Promise.all(
    wanted.objects.map((object) => surveyObject(pass, object, coming)),
  );
  const objects = found.filter((one): one is SurveyedObject => typeof one !== 'string');
  return {
    objects,
    problems: [
      ...wanted.problems,
      ...found.filter((one): one is string => typeof one === 'string'),
      ...twice(objects),
      ...objects.flatMap((one) => ownedByAnother(one, pass.cr)),
    ],
    orphans: objects.filter((one) => isOrphan(pass, one)),
  };
}

async function surveyObject(
  pass: Pass,
  object: KubernetesObject,
  coming: ReturnType<typeof definedKinds>,
): Promise<SurveyedObject | string> {
  try {
    const type = await typeOf(pass, object, coming);
    const namespaced = (type ?? coming.get(kindName(object)))?.namespaced === true;
    const placed = inPlace(object, namespaced);
    if (placed === undefined) return `${describeObject(object)} has no namespace: give it one`;
    const scopes = {
      objectNamespaced: namespaced,
      ownerNamespaced: pass.settings.namespacedCr ?? pass.cr.metadata.namespace !== undefined,
    };
    const desired = withControllerReference(completedObject(placed, pass.cr), pass.cr, scopes);
    const { signal } = pass;
    const current = type && (await getIfExists(pass.client, type, keyOf(desired), { signal }));
    return { type, desired, current };
  } catch (error) {
    if (isOperatorError(error) && insoluble.includes(error.code)) return error.message;
    throw error;
  }
}

/** Errors that a retry cannot fix: the operator, its configuration or the cluster must change. */
const insoluble: readonly string[] = [
  ...['UnknownKind', 'InvalidOwner', 'AlreadyOwned', 'InvalidObject'],
];

async function typeOf(
  { client }: Pass,
  object: KubernetesObject,
  coming: ReturnType<typeof definedKinds>,
): Promise<ResourceType | undefined> {
  const { apiVersion, kind } = object;
  const reference: TypeReference = { apiVersion, kind };
  try {
    return await client.resourceType(reference);
  } catch (error) {
    if (isOperatorError(error, 'UnknownKind') && coming.has(kindName(object))) return undefined;
    throw error;
  }
}

/**
 * Removes the namespace from an object of a cluster-scoped kind. Returns undefined if a namespaced object has
 * no namespace.
 */
export function inPlace(
  object: KubernetesObject,
  namespaced: boolean,
): KubernetesObject | undefined {
  const { namespace = '', ...rest } = object.metadata;
  if (!namespaced) return namespace === '' ? object : { ...object, metadata: rest };
  return namespace === '' ? undefined : object;
}

function isOrphan(pass: Pass, { current }: SurveyedObject): boolean {
  if (current === undefined || isOurs(pass, current)) return false;
  return ownershipOf(current, pass.cr).state === 'nobody';
}

/**
 * Whether the configuration controls `object`. Without any controller, the label and annotation decide: users
 * may have removed the owner reference or the labels of our objects; the reconciler restores them.
 */
export function isOurs({ settings, cr }: Pass, object: KubernetesObject): boolean {
  const { state } = ownershipOf(object, cr);
  if (state !== 'nobody') return state === 'ours';
  const { labels, annotations } = object.metadata;
  return (
    labels?.[settings.createVersionLabel] !== undefined ||
    annotations?.[settings.lastAppliedAnnotation] !== undefined
  );
}

function twice(objects: readonly SurveyedObject[]): string[] {
  const seen = new Set<string>();
  return objects.flatMap(({ desired }) => {
    const name = identityOf(desired);
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [`${describeObject(desired)} is desired twice: leave one out`];
  });
}

function ownedByAnother({ desired, current }: SurveyedObject, cr: LifecycleObject): string[] {
  const ownership = current && ownershipOf(current, cr);
  if (ownership?.state !== 'foreign') return [];
  const owner = `${ownership.controller.kind} ${ownership.controller.name}`;
  return [`${describeObject(desired)} belongs to ${owner}: delete it, or choose another name`];
}

/** The delay until the next reconcile of a configuration with problems that prevent its deployment, in milliseconds. */
export const problemRetryMs = 30_000;

/** Returns the problem that a user must solve first; undefined if nothing blocks. */
export function whyBlocked(pass: Pass, { problems, orphans }: Survey): Trouble | undefined {
  if (problems.length > 0) {
    return { reason: 'ConfigError', message: problems.join('; '), isBlocked: true };
  }
  if (orphans.length === 0 || pass.settings.orphans === 'adopt') return undefined;
  const names = orphans.map(({ desired }) => describeObject(desired)).join(', ');
  const message = `exist already without an owner: ${names}; delete them, or have them adopted`;
  return { reason: 'OrphansExist', message, isBlocked: true };
}

/** The result of `getAllResources`. */
export interface DesiredList {
  readonly objects: readonly KubernetesObject[];
  /** The entries that are not objects, with the reason. */
  readonly problems: readonly string[];
}

/** Calls `getAllResources` and validates the result. @throws the error of `getAllResources` */
export async function desiredList(pass: Pass): Promise<DesiredList> {
  const { crManager, listName } = pass.settings;
  const wanted: unknown = await callUserCode(pass, { what: listName }, () =>
    crManager.getAllResources(pass.cr),
  );
  if (!Array.isArray(wanted)) {
    const got = wanted === null ? 'null' : typeof wanted;
    return { objects: [], problems: [`${listName} returned ${got}: want a list of objects`] };
  }
  const read = wanted.map((object, place) =>
    readObject(object, `${listName}: object ${place + 1}`),
  );
  return {
    objects: read.filter((one) => typeof one !== 'string'),
    problems: read.filter((one) => typeof one === 'string'),
  };
}

/** Returns the JSON form of an object, such as text for a Date, or a problem. */
function readObject(given: unknown, what: string): KubernetesObject | string {
  const problem = problemOf(given, what);
  if (problem !== undefined) return problem;
  const object = given as KubernetesObject;
  try {
    return jsonCopy(object, describeObject(object));
  } catch (error) {
    if (isOperatorError(error, 'InvalidValue')) return error.message;
    throw error;
  }
}

function problemOf(object: unknown, what: string): string | undefined {
  if (!isJsonObject(object)) return `${what} is ${object === null ? 'null' : typeof object}`;
  const { apiVersion, kind, metadata } = object;
  if (!isText(apiVersion)) return `${what} has no apiVersion`;
  if (!isText(kind)) return `${what} has no kind`;
  if (!isJsonObject(metadata) || !isText(metadata['name']))
    return `${what}, a ${kind}, has no name`;
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

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
  const labels = pick(cr.metadata.labels ?? {}, inherited);
  const entries = Object.entries(object).filter(([name]) => !isOfOthers(object, name));
  const plain = encodeSecret(Object.fromEntries(entries) as unknown as UnstructuredObject);
  const metadata = withLabels(omit(plain.metadata, ofTheServer), labels);
  const complete = { ...plain, metadata };
  return withTemplateLabels(complete, labels);
}

// The rules of an aggregated role belong to the aggregation controller, which would restore them forever.
function isOfOthers(object: KubernetesObject, name: string): boolean {
  return name === 'status' || (name === 'rules' && 'aggregationRule' in object);
}

type Labels = Readonly<Record<string, string>>;

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
