import type { Client } from '../../client/client.js';
import type {
  KubernetesObject,
  ObjectKey,
  UnstructuredObject,
} from '../../object/kubernetes-object.js';
import type { Document } from '../document.js';

/** Result of a write. */
export type TargetOutcome = 'created' | 'updated' | 'deleted' | 'unchanged';

/** Context of a {@link TargetWriter}. */
export interface WriteContext {
  /** A client that reads from the server, not from a cache. */
  readonly client: Client;
  readonly signal: AbortSignal;
  /** Namespaces that `written` searches. @defaultValue all */
  readonly namespaces?: readonly string[] | undefined;
  /** Called for an object that is read or written without the client, with its state before and after. */
  readonly note?: ((live: KubernetesObject | undefined, now: KubernetesObject) => void) | undefined;
}

/**
 * Brings objects of a target to the state that a pipeline desires. Its only state between calls is how the
 * server spells applied values that it changes (defaults within an atomic list). After a restart the writer
 * applies such an object again, which changes nothing.
 */
export interface TargetWriter {
  /**
   * Brings the live object to the desired state; an up-to-date object is not written.
   * @param desired - undefined: the object is no longer desired; everything that this target wrote is removed
   * @returns `deleted` only for the whole object; fields that a Patcher removes are `updated`
   * @throws ApiError the server's answer; `isStaleWrite` if the object was changed or recreated meanwhile
   * @throws OperatorError `InvalidObject`: the document is not valid for its kind; `TargetMissing`: there is
   * no object to patch; `TargetDeleting`: the object is being deleted. The caller retries.
   */
  write(
    key: ObjectKey,
    desired: Document | undefined,
    context: WriteContext,
  ): Promise<TargetOutcome>;
  /** Whether `live` is in the desired state, so that `write` would write nothing. */
  isCurrent(live: UnstructuredObject, desired: Document): boolean;
  /**
   * Removes what was applied to an object, and leaves the object: another controller owns it. Absent if the
   * target shares its objects.
   */
  release?(key: ObjectKey, context: WriteContext): Promise<void>;
  /** Returns the keys of all live objects that this target wrote, in this or an earlier process. */
  written(context: WriteContext): Promise<readonly ObjectKey[]>;
}
