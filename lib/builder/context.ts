import type { Client } from '../client/client.js';
import { getIfExists } from '../client/get-if-exists.js';
import type { WriteDetails } from '../events/recording-client.js';
import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import type { ObjectReference } from '../object/object-reference.js';
import type { ResourceType, TypeReference } from '../object/resource-type.js';
import type { OperatorError } from '../system/operator-error.js';
import type { BuilderSettings } from './builder-options.js';

/** Something worth an event on the owner that is not the outcome of a single call. */
export interface Report {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, for example `RolloutStuck`. */
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  /** The object that it is about. */
  readonly related: ObjectReference;
  /** The failure that it tells of; listeners hear of it unless a failed call has told them. */
  readonly error?: OperatorError;
}

/** What everything that acts is handed. */
export interface RunContext {
  readonly settings: BuilderSettings;
  /** Records what it writes. */
  readonly client: Client;
  readonly report: (report: Report) => void;
  /** Says what the next write to the object of `ref` changes, for its event. */
  readonly announce: (ref: ObjectReference, details: WriteDetails) => void;
}

/** Reads an object; undefined where there is none. */
export function readObject(
  { client, settings }: Pick<RunContext, 'client' | 'settings'>,
  type: TypeReference<KubernetesObject>,
  { namespace, name }: Pick<ObjectReference, 'namespace' | 'name'>,
): Promise<UnstructuredObject | undefined> {
  const { signal } = settings;
  return getIfExists(client, type as ResourceType, { namespace, name }, { signal });
}
