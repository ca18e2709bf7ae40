import type { CachingClient, Client } from '../client/client.js';
import { getIfExists } from '../client/get-if-exists.js';
import type { OperatorEvents } from '../events/operator-events.js';
import type { Recorder } from '../events/recorder.js';
import type { WriteDetails } from '../events/recording-client.js';
import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import type { ObjectReference } from '../object/object-reference.js';
import type { ResourceType, TypeReference } from '../object/resource-type.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import type { OperatorError } from '../system/operator-error.js';
import type { ImmutablePolicy } from './desired-object.js';

/** For whom, as whom and how objects are applied. */
export interface ApplySettings {
  readonly client: CachingClient;
  readonly owner: KubernetesObject;
  /** The field manager, and the value of `app.kubernetes.io/managed-by`. */
  readonly controllerName: string;
  /** Labels of every object, under its own. */
  readonly labels: Readonly<Record<string, string>>;
  /** The part of the owner's objects that is pruned. */
  readonly scope: string | undefined;
  readonly onImmutable: ImmutablePolicy;
  readonly adopt: boolean;
  readonly adoptManagers: readonly string[];
  readonly maxDeletions: DeletionLimit;
  readonly pruneClaims: boolean | undefined;
  readonly recorder: Recorder | undefined;
  readonly emitter: OperatorEvents | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal | undefined;
}

/** How many objects one pruning may delete, of those `owned`, and of which `staying` are desired. */
export type DeletionLimit = (objects: {
  readonly owned: number;
  readonly staying: number;
}) => number;

/** Something worth an event on the owner that is not the outcome of a single call. */
export interface Report {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, for example `RolloutStuck`. */
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  /** The object that it is about. */
  readonly related: ObjectReference;
  /** The failure that it reports; listeners receive it unless a failed call has reported it. */
  readonly error?: OperatorError;
}

/** What everything that acts is given. */
export interface ApplyContext<Settings extends ApplySettings = ApplySettings> {
  readonly settings: Settings;
  /** Records what it writes. */
  readonly client: Client;
  readonly report: (report: Report) => void;
  /** Says what the next write to the object of `ref` changes, for its event. */
  readonly announce: (ref: ObjectReference, details: WriteDetails) => void;
}

/** Reads an object; undefined where there is none. */
export function readObject(
  { client, settings }: Pick<ApplyContext, 'client' | 'settings'>,
  type: TypeReference<KubernetesObject>,
  { namespace, name }: Pick<ObjectReference, 'namespace' | 'name'>,
): Promise<UnstructuredObject | undefined> {
  const { signal } = settings;
  return getIfExists(client, type as ResourceType, { namespace, name }, { signal });
}
