import { isJsonObject } from '../../object/json.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import type { ShownObject } from './overview.js';
import { firstOf } from './shown.js';
import type { Shown } from './shown.js';

/** A condition of an object's status. */
export interface ShownCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/**
 * What is shown of an object: which it is, and the conditions of its status. Never anything else of it:
 * labels, annotations, spec and data stay out.
 */
export interface ObjectView {
  readonly object: ShownObject;
  /** Where it was read. `gone`: there is none, or another of the name. `unreadable`: see `problem`. */
  readonly from: 'cache' | 'server' | 'gone' | 'unreadable';
  readonly problem: string | undefined;
  readonly isBeingDeleted: boolean;
  readonly conditions: Shown<ShownCondition>;
}

/** So many conditions of an object are shown. */
const maxConditions = 20;
/** Messages of conditions are cut to so many characters. */
const maxMessage = 300;

/** What is shown of `object`. */
export function viewOf(
  object: KubernetesObject,
  { cluster, from }: { readonly cluster: string; readonly from: 'cache' | 'server' },
): ObjectView {
  const { apiVersion, kind, metadata } = object;
  return {
    object: { cluster, apiVersion, kind, ...keyOf(object), uid: metadata.uid },
    ...{ from, problem: undefined },
    isBeingDeleted: metadata.deletionTimestamp !== undefined,
    conditions: conditionsOf(object),
  };
}

/** What is shown of an object that could not be read. */
export function viewWithout(
  object: ShownObject,
  from: 'gone' | 'unreadable',
  problem: string,
): ObjectView {
  return { object, from, problem, isBeingDeleted: false, conditions: { items: [], more: 0 } };
}

function conditionsOf(object: KubernetesObject): Shown<ShownCondition> {
  // Custom resources may hold anything there.
  const { status } = object as { readonly status?: unknown };
  const conditions: unknown = isJsonObject(status) ? status['conditions'] : undefined;
  if (!Array.isArray(conditions)) return { items: [], more: 0 };
  const found = conditions.flatMap((condition: unknown) => {
    if (!isJsonObject(condition) || typeof condition['type'] !== 'string') return [];
    const { type, status: state, reason, message } = condition;
    return [
      {
        type,
        status: text(state),
        reason: text(reason),
        message: text(message).slice(0, maxMessage),
      },
    ];
  });
  return firstOf(found, maxConditions);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
