import type { Event } from '../object/kinds.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { formatMicroTime } from '../object/micro-time.js';
import { dns1123SubdomainProblem, maxSubdomainLength } from '../object/names.js';
import { referenceTo } from '../object/object-reference.js';
import type { ObjectReference } from '../object/object-reference.js';
import { OperatorError } from '../system/operator-error.js';
import type { Random } from '../system/random.js';
import { cutText } from './cut-text.js';
import { maxTextBytes } from './event-recorder-options.js';
import type { ObjectEvent } from './recorder.js';

const maxNoteBytes = 1_024;

/** Source and time of a new Event. */
export interface EventOrigin {
  readonly controllerName: string;
  readonly instance: string;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  readonly random: Random;
}

/**
 * Returns `event` as an events.k8s.io/v1 Event that the API server accepts. An Event is stored in the
 * namespace of its `regarding` object; for cluster-scoped objects, in `default`.
 * @throws OperatorError `InvalidObject`: `regarding` or `related` has no name, or `reason` or `action` is
 * empty.
 */
export function newEvent(event: ObjectEvent, origin: EventOrigin): Event {
  const { type, reason, action, note } = event;
  const regarding = toReference(event.regarding);
  if (reason === '' || action === '') {
    const missing = reason === '' ? 'reason' : 'action';
    throw new OperatorError('InvalidObject', `event on ${regarding.kind}: no ${missing}`);
  }
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: {
      namespace: regarding.namespace ?? 'default',
      name: event.name ?? eventName(regarding.name, origin.random.uuid()),
    },
    eventTime: formatMicroTime(origin.nowMs),
    type,
    reason: cutText(reason, maxTextBytes),
    action: cutText(action, maxTextBytes),
    note: cutText(note, maxNoteBytes),
    regarding: present(regarding),
    ...(event.related === undefined ? {} : { related: present(toReference(event.related)) }),
    reportingController: origin.controllerName,
    reportingInstance: origin.instance,
  };
}

/**
 * Returns a reference to the subject, without an empty namespace.
 * @throws OperatorError `InvalidObject`: the subject has no name.
 */
export function toReference(subject: KubernetesObject | ObjectReference): ObjectReference {
  if ('metadata' in subject) return referenceTo(subject);
  if (subject.name === '') {
    throw new OperatorError('InvalidObject', `event: the ${subject.kind} has no name`);
  }
  const { namespace = '', ...rest } = subject;
  return namespace === '' ? rest : { ...rest, namespace };
}

/**
 * Returns the name of an Event about an object. A random `unique` makes it unique: replicas may report on one
 * object in the same microsecond, and an Event of the same name would count as already written.
 * @param unique - hex digits and dashes, at least 16 digits
 */
export function eventName(objectName: string, unique: string): string {
  const suffix = unique.replaceAll('-', '').slice(0, 16);
  // Names of Roles and similar kinds may be invalid for Events, for example `system:node`.
  const isUsable = dns1123SubdomainProblem(objectName) === undefined;
  const base = isUsable ? objectName : 'object';
  const kept = base.slice(0, maxSubdomainLength - suffix.length - 1).replace(/[-.]+$/, '');
  return `${kept}.${suffix}`;
}

/** Returns the defined fields of the reference. */
function present(reference: ObjectReference): Record<string, string> {
  const { apiVersion, kind, namespace, name, uid } = reference;
  const parts = { apiVersion, kind, namespace, name, uid };
  return Object.fromEntries(
    Object.entries(parts).filter((part): part is [string, string] => part[1] !== undefined),
  );
}
