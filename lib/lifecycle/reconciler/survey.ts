import { getIfExists } from '../../client/get-if-exists.js';
import { describeObject } from '../../object/describe-object.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import { controllerOf, withControllerReference } from '../../object/owner-reference.js';
import type { ResourceType, TypeReference } from '../../object/resource-type.js';
import { isOperatorError } from '../../system/operator-error.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import { completedObject } from './completed-object.js';
import type { Pass } from './pass.js';

/** A desired object, and what is there of it. */
export interface SurveyedObject {
  readonly type: ResourceType;
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
  const { crManager } = pass.settings;
  const wanted = await crManager.getAllResources(pass.cr);
  const found = await Promise.all(wanted.map((object) => surveyObject(pass, object)));
  const objects = found.filter((one): one is SurveyedObject => typeof one !== 'string');
  const problems = found.filter((one): one is string => typeof one === 'string');
  const { uid } = pass.cr.metadata;
  const orphans = objects.filter((one) => isOrphan(pass, one));
  return {
    objects,
    problems: [
      ...problems,
      ...twice(objects),
      ...objects.flatMap((one) => ownedByAnother(one, uid)),
    ],
    orphans,
  };
}

async function surveyObject<CR extends LifecycleObject>(
  pass: Pass<CR>,
  object: KubernetesObject,
): Promise<SurveyedObject | string> {
  try {
    const { apiVersion, kind } = object;
    const reference: TypeReference = { apiVersion, kind };
    const type = await pass.client.resourceType<UnstructuredObject>(reference);
    const complete = completedObject(object, pass.cr);
    const scopes = {
      objectNamespaced: type.namespaced,
      ownerNamespaced: pass.settings.namespacedCr ?? pass.cr.metadata.namespace !== undefined,
    };
    const desired = withControllerReference(complete, pass.cr, scopes);
    const current = await getIfExists(pass.client, type, keyOf(desired), { signal: pass.signal });
    return { type, desired, current };
  } catch (error) {
    if (isOperatorError(error) && insoluble.includes(error.code)) return error.message;
    throw error;
  }
}

/** What no second try mends: the operator, its configuration or the cluster has to change. */
const insoluble: readonly string[] = [
  'UnknownKind',
  'InvalidOwner',
  'AlreadyOwned',
  'InvalidObject',
];

function isOrphan<CR extends LifecycleObject>(
  pass: Pass<CR>,
  { current }: SurveyedObject,
): boolean {
  if (current === undefined || controllerOf(current) !== undefined) return false;
  // Of ours somebody has taken the owner reference away; it is given back.
  return current.metadata.labels?.[pass.settings.createVersionLabel] === undefined;
}

function twice(objects: readonly SurveyedObject[]): string[] {
  const seen = new Set<string>();
  return objects.flatMap(({ type, desired }) => {
    const name = `${type.group}/${describeObject(desired)}`;
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
