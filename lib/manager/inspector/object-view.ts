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
 * The shown part of an object: its reference and its status conditions. Labels, annotations, spec and data
 * are never shown.
 */
export interface ObjectView {
  readonly object: ShownObject;
  /** Source of the object. `gone`: it does not exist, or has another UID. `unreadable`: see `problem`. */
  readonly from: 'cache' | 'server' | 'gone' | 'unreadable';
  readonly problem: string | undefined;
  readonly isBeingDeleted: boolean;
  readonly conditions: Shown<ShownCondition>;
}

/** Maximum number of conditions per object. */
const maxConditions = 20;
/** Maximum number of characters of a condition's message. */
const maxMessage = 300;

/** Returns the view of `object`. */
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

/** Returns the view of an object that could not be read. */
export function viewWithout(
  object: ShownObject,
  from: 'gone' | 'unreadable',
  problem: string,
): ObjectView {
  return { object, from, problem, isBeingDeleted: false, conditions: { items: [], more: 0 } };
}

function conditionsOf(object: KubernetesObject): Shown<ShownCondition> {
  // A custom resource's status may have any shape.
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
