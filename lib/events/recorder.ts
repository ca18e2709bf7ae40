import type { Event, KubernetesObject, ObjectReference } from '../object/index.js';
import {
  formatMicroTime,
  dns1123SubdomainProblem,
  isJsonObject,
  maxSubdomainLength,
  referenceTo,
} from '../object/index.js';
import { OperatorError } from '../system/index.js';
import type { Random } from '../system/index.js';

/** An event on an object, as shown by `kubectl describe` and `kubectl events`. */
export interface ObjectEvent {
  /** The object at which the event is shown: usually the reconciled owner. */
  readonly regarding: KubernetesObject | ObjectReference;
  /** Another object that is involved, for example the created one. */
  readonly related?: KubernetesObject | ObjectReference | undefined;
  /** `Warning`: a user should look into it. */
  readonly type: 'Normal' | 'Warning';
  /** Machine-readable reason: CamelCase, 1 to 128 characters, for example `CreateFailed`. */
  readonly reason: string;
  /** Machine-readable action on `regarding`: 1 to 128 characters, for example `Create`. */
  readonly action: string;
  /** Human-readable text; cut to 1,024 bytes. Must not contain a Secret's data. */
  readonly note: string;
  /**
   * Text about `related` alone, without the reason: `ConfigMap web: data.key`. Normal events with an item, the
   * same `regarding`, reason and action, and no `name`, become one Event, for example
   * `Created 3 objects: ConfigMap web, Service web, Deployment web`.
   * @defaultValue the event is written alone
   */
  readonly item?: string | undefined;
  /**
   * Name of the Event. Replicas that report the same event under the same name write one Event.
   * @defaultValue a unique name
   */
  readonly name?: string | undefined;
}

/** Records events about objects; `manager.recorder` is one. */
export interface Recorder {
  /** Records an event. Returns at once and never throws. */
  record(event: ObjectEvent): void;
}

/** Discards every event. */
export const silentRecorder: Recorder = { record: () => undefined };

/** Maximum bytes of `reportingInstance`, `reason` and `action`. */
export const maxTextBytes = 128;

/** Maximum bytes of an Event's note. */
export const maxNoteBytes = 1_024;

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
 * @throws OperatorError `InvalidObject`: `regarding` or `related` has no name, or another field has no valid value.
 */
export function newEvent(event: ObjectEvent, origin: EventOrigin): Event {
  refuseInvalidEvent(event);
  const { type, reason, action, note } = event;
  const regarding = toReference(event.regarding);
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
    regarding,
    ...(event.related === undefined ? {} : { related: toReference(event.related) }),
    reportingController: origin.controllerName,
    reportingInstance: origin.instance,
  };
}

/** @throws OperatorError `InvalidObject`: a field has no valid value, which plain JavaScript can pass. */
export function refuseInvalidEvent(event: ObjectEvent): void {
  const { type, reason, action, note, item, name } = event as Partial<ObjectEvent>;
  const { regarding, related } = event as { readonly [Name in keyof ObjectEvent]?: unknown };
  if (!isJsonObject(regarding)) {
    const problem = 'event: regarding is missing; give the object that the event is about';
    throw new OperatorError('InvalidObject', problem);
  }
  const refuse = (problem: string): never => {
    throw new OperatorError('InvalidObject', `event on ${String(regarding['kind'])}: ${problem}`);
  };
  if (related !== undefined && !isJsonObject(related)) {
    const got = related === null ? 'null' : typeof related;
    refuse(`related: want the other object, or leave it out, got ${got}`);
  }
  if (type !== 'Normal' && type !== 'Warning') {
    refuse(`type: want "Normal" or "Warning", got ${JSON.stringify(type)}`);
  }
  for (const [field, given] of Object.entries({ reason, action, note, item, name })) {
    const isOptional = field === 'item' || field === 'name';
    if (given === undefined && isOptional) continue;
    if (given === undefined || (given === '' && field !== 'note')) refuse(`${field} is missing`);
    if (typeof given !== 'string') refuse(`${field}: want a string, got ${typeof given}`);
  }
}

/**
 * Returns a reference to the subject, without empty fields.
 * @throws OperatorError `InvalidObject`: the subject has no name.
 */
export function toReference(subject: KubernetesObject | ObjectReference): Reference {
  if ('metadata' in subject) return referenceTo(subject);
  const { apiVersion, kind, namespace = '', name, uid } = subject;
  if ((name as string | undefined) === undefined || name === '') {
    throw new OperatorError('InvalidObject', `event: the ${kind} has no name`);
  }
  const key = namespace === '' ? { apiVersion, kind, name } : { apiVersion, kind, namespace, name };
  return uid === undefined ? key : { ...key, uid };
}

type Reference = ReturnType<typeof referenceTo>;

/** Returns the identity of an object. */
export function referenceKey(reference: Event['related']): string {
  if (reference === undefined) return '';
  const { apiVersion, kind, namespace, name, uid } = reference;
  return [apiVersion, kind, namespace, name, uid].join(separator);
}

/** Separates the parts of a key; it occurs in no field of an Event that the API server accepts. */
export const separator = '\0';

/**
 * Returns the name of an Event about an object. A random `unique` makes it unique. Two replicas may report on
 * one object in the same microsecond, and an Event of the same name would count as already written.
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

/**
 * Cuts `text` to `maxBytes` bytes of UTF-8, never within a character, and marks a cut with an ellipsis. The
 * API server counts bytes.
 */
export function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes - Buffer.byteLength(ellipsis);
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0b1100_0000) === 0b1000_0000) end--;
  return bytes.toString('utf8', 0, end) + ellipsis;
}

const ellipsis = '…';
