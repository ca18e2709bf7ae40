import { definedKinds, kindName } from '../../builder/apply-order.js';
import { getIfExists } from '../../client/get-if-exists.js';
import { describeObject } from '../../object/describe-object.js';
import { isJsonObject } from '../../object/json.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import { controllerOf, withControllerReference } from '../../object/owner-reference.js';
import type { ResourceType, TypeReference } from '../../object/resource-type.js';
import { isOperatorError } from '../../system/operator-error.js';
import type { Trouble } from '../conditions/explained-status.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { completedObject } from './completed-object.js';
import { identityOf } from './owned-objects.js';
import type { Pass } from './pass.js';
import { callUserCode } from './user-code.js';

/** A desired object, and what is there of it. */
export interface SurveyedObject {
  /** Undefined: its kind is not served yet, for its definition is desired too. */
  readonly type: ResourceType | undefined;
  /** Complete, with its controller. */
  readonly desired: UnstructuredObject;
  /** Undefined: there is none. */
  readonly current: UnstructuredObject | undefined;
}

/** What was found before anything is done. */
export interface Survey {
  readonly objects: readonly SurveyedObject[];
  /** Why nothing can be done; each names its object and the remedy. */
  readonly problems: readonly string[];
  /** Those that exist and are nobody's, and were not made by this configuration. */
  readonly orphans: readonly SurveyedObject[];
}

/**
 * Looks at everything that there should be, and at what is there. Nothing is written: what can't be
 * carried out whole is not begun.
 * @throws what `getAllResources` and reads throw.
 */
export async function survey<CR extends LifecycleObject>(pass: Pass<CR>): Promise<Survey> {
  const wanted = await desiredList(pass);
  const coming = definedKinds(wanted.objects);
  const found = await Promise.all(
    wanted.objects.map((object) => surveyObject(pass, object, coming)),
  );
  const objects = found.filter((one): one is SurveyedObject => typeof one !== 'string');
  const { uid } = pass.cr.metadata;
  return {
    objects,
    problems: [
      ...wanted.problems,
      ...found.filter((one): one is string => typeof one === 'string'),
      ...twice(objects),
      ...objects.flatMap((one) => ownedByAnother(one, uid)),
    ],
    orphans: objects.filter((one) => isOrphan(pass, one)),
  };
}

async function surveyObject<CR extends LifecycleObject>(
  pass: Pass<CR>,
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

/** What no second try mends: the operator, its configuration or the cluster has to change. */
const insoluble: readonly string[] = [
  ...['UnknownKind', 'InvalidOwner', 'AlreadyOwned', 'InvalidObject'],
];

async function typeOf<CR extends LifecycleObject>(
  { client }: Pass<CR>,
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

/** `object` without a namespace that its kind does not have; undefined: it lacks one. */
function inPlace(object: KubernetesObject, namespaced: boolean): KubernetesObject | undefined {
  const { namespace = '', ...rest } = object.metadata;
  if (!namespaced) return namespace === '' ? object : { ...object, metadata: rest };
  return namespace === '' ? undefined : object;
}

function isOrphan<CR extends LifecycleObject>(
  pass: Pass<CR>,
  { current }: SurveyedObject,
): boolean {
  return current !== undefined && controllerOf(current) === undefined && !isOurs(pass, current);
}

/**
 * Whether the configuration controls `object`. Without any controller the marks decide: users may
 * have removed the owner reference or the labels of our objects; the reconciler restores them.
 */
export function isOurs<CR extends LifecycleObject>(
  { settings, cr }: Pass<CR>,
  object: KubernetesObject,
): boolean {
  const controller = controllerOf(object);
  if (controller !== undefined) return controller.uid === cr.metadata.uid;
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

function ownedByAnother({ desired, current }: SurveyedObject, uid: string | undefined): string[] {
  const controller = current && controllerOf(current);
  if (controller === undefined || controller.uid === uid) return [];
  const owner = `${controller.kind} ${controller.name}`;
  return [`${describeObject(desired)} belongs to ${owner}: delete it, or choose another name`];
}

/** When a configuration that can't be carried out is looked at again, in milliseconds. */
export const problemRetryMs = 30_000;

/** Why nothing can be done before somebody acts; undefined: it can. */
export function whyBlocked<CR extends LifecycleObject>(
  pass: Pass<CR>,
  { problems, orphans }: Survey,
): Trouble | undefined {
  if (problems.length > 0) {
    return { reason: 'ConfigError', message: problems.join('; '), isBlocked: true };
  }
  if (orphans.length === 0 || pass.settings.orphans === 'adopt') return undefined;
  const names = orphans.map(({ desired }) => describeObject(desired)).join(', ');
  const message = `exist already and are nobody's: ${names}; delete them, or have them adopted`;
  return { reason: 'OrphansExist', message, isBlocked: true };
}

/** What `getAllResources` has returned. */
export interface DesiredList {
  readonly objects: readonly KubernetesObject[];
  /** What is no object, and why. */
  readonly problems: readonly string[];
}

/** Asks the operator for all objects, and takes nothing for granted. @throws what it throws */
export async function desiredList<CR extends LifecycleObject>(
  pass: Pass<CR>,
): Promise<DesiredList> {
  const { crManager } = pass.settings;
  const wanted: unknown = await callUserCode(pass, 'getAllResources', () =>
    crManager.getAllResources(pass.cr),
  );
  if (!Array.isArray(wanted)) {
    const got = wanted === null ? 'null' : typeof wanted;
    return { objects: [], problems: [`getAllResources returned ${got}: want a list of objects`] };
  }
  const checked = wanted.map((one: unknown, place) => ({ one, problem: problemOf(one, place) }));
  return {
    objects: checked.flatMap(({ one, problem }) =>
      problem === undefined ? [one as KubernetesObject] : [],
    ),
    problems: checked.flatMap(({ problem }) => problem ?? []),
  };
}

function problemOf(object: unknown, place: number): string | undefined {
  const what = `getAllResources: object ${place + 1}`;
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
