import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { ObjectReference } from '../object/object-reference.js';

/** Something that happened to an object, to be shown by `kubectl describe` and `kubectl events`. */
export interface ObjectEvent {
  /** What the event is shown at: mostly the owner that is reconciled. */
  readonly regarding: KubernetesObject | ObjectReference;
  /** Another object that takes part, for example the one that was created. */
  readonly related?: KubernetesObject | ObjectReference | undefined;
  /** `Warning`: somebody should look. */
  readonly type: 'Normal' | 'Warning';
  /** Why it was recorded, for machines: CamelCase, 1 to 128 characters, for example `CreateFailed`. */
  readonly reason: string;
  /** What was done about `regarding`, for machines: 1 to 128 characters, for example `Create`. */
  readonly action: string;
  /** For people; cut to 1,024 bytes. Never a Secret's data. */
  readonly note: string;
  /**
   * Name of the Event. Replicas that report the same thing under the same name write one Event.
   * @defaultValue a name that no other Event has
   */
  readonly name?: string | undefined;
}

/** Where events go. */
export interface Recorder {
  /** Takes an event; returns at once and never throws, whatever becomes of it. */
  record(event: ObjectEvent): void;
}

/** Discards every event. */
export const silentRecorder: Recorder = { record: () => undefined };
