import { findCondition } from '../object/conditions.js';
import type { Condition, ConditionUpdate } from '../object/conditions.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';

/** Annotations that pause an object, with the value that does. */
export type PauseAnnotations = Readonly<Record<string, string>>;

/** What pauses an object of every framework. */
export const commonPauseAnnotations: PauseAnnotations = {
  'operator-builder.io/paused': 'true',
  'cluster.x-k8s.io/paused': 'true',
};

/** The type of the condition of an object that is paused, or was. */
export const pausedCondition = 'Paused';

const pausedReason = 'PausedByAnnotation';
const waitingDeletion = '; its deletion waits until the annotation is gone';

/**
 * What pauses `object`, in words; undefined: nothing does. The first that is found, in the order of
 * `pausing`, so that two frameworks come to the same words.
 */
export function pausedBy(object: KubernetesObject, pausing: PauseAnnotations): string | undefined {
  const { annotations = {} } = object.metadata;
  const key = Object.keys(pausing).find(
    (each) => Object.hasOwn(annotations, each) && annotations[each] === pausing[each],
  );
  return key === undefined ? undefined : named(key, annotations[key]);
}

/**
 * The condition that tells that `object` is paused by `by`, or undefined where one says so already:
 * that another framework has given another annotation, or another operator has its own words, is no
 * reason to write it in turns.
 */
export function pauseToTell(
  object: KubernetesObject,
  conditions: readonly Condition[],
  by: string,
): ConditionUpdate | undefined {
  const isDeleting = object.metadata.deletionTimestamp !== undefined;
  const told = findCondition(conditions, pausedCondition);
  const isTold = told?.status === 'True' && isToldStill(told, object);
  const says = isTold ? told.message.replace(waitingDeletion, '') : by;
  const message = isDeleting ? says + waitingDeletion : says;
  if (isTold && (told.reason !== pausedReason || told.message === message)) return undefined;
  return { type: pausedCondition, status: 'True', reason: pausedReason, message };
}

/** The condition that tells that `object`, which is not paused, was; undefined: nothing says that it is. */
export function resumptionToTell(
  object: KubernetesObject,
  conditions: readonly Condition[],
): ConditionUpdate | undefined {
  const told = findCondition(conditions, pausedCondition);
  if (told?.status !== 'True' || isToldStill(told, object)) return undefined;
  return { type: pausedCondition, status: 'False', reason: 'NotPaused' };
}

/** Whether what the condition says is so: it names an annotation of the object, or is none of ours. */
function isToldStill({ reason, message }: Condition, { metadata }: KubernetesObject): boolean {
  if (reason !== pausedReason) return true;
  const { annotations = {} } = metadata;
  const says = message.replace(waitingDeletion, '');
  return Object.entries(annotations).some(([key, value]) => named(key, value) === says);
}

function named(key: string, value: string | undefined): string {
  return `annotation ${key}: ${JSON.stringify(value)}`;
}
