import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { ObjectReference } from '../object/object-reference.js';

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
   * Name of the Event. Replicas that report the same event under the same name write one Event.
   * @defaultValue a unique name
   */
  readonly name?: string | undefined;
}

/** Receiver of events. */
export interface Recorder {
  /** Records an event. Returns at once and never throws. */
  record(event: ObjectEvent): void;
}

/** Discards every event. */
export const silentRecorder: Recorder = { record: () => undefined };
