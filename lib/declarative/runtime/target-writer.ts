import type { Client } from '../../client/client.js';
import type { KubernetesObject, ObjectKey } from '../../object/kubernetes-object.js';
import type { Document } from '../document.js';

/** What a write came to. */
export type TargetOutcome = 'created' | 'updated' | 'deleted' | 'unchanged';

/** What a {@link TargetWriter} works with. */
export interface WriteContext {
  /** One that reads from the server, not from a cache. */
  readonly client: Client;
  readonly signal: AbortSignal;
  /** Where `written` looks. @defaultValue everywhere */
  readonly namespaces?: readonly string[] | undefined;
  /** Told of an object that is read or written without the client: as it was, and as it is. */
  readonly note?: ((live: KubernetesObject | undefined, now: KubernetesObject) => void) | undefined;
  /** Nothing may be written: it is an error where there is something to write. @defaultValue false */
  readonly isTrial?: boolean | undefined;
}

/**
 * Brings objects of a target to what a pipeline wants. Between calls it remembers nothing but how the
 * server spells what was applied, where that is not as it was written (defaults within an atomic list):
 * whoever starts anew applies such an object once more, which changes nothing.
 */
export interface TargetWriter {
  /**
   * Brings the live object to what is desired; what is so already is not written.
   * @param desired - undefined: it is not wanted any more; what this target wrote goes
   * @returns `deleted`: the whole object; fields that a Patcher takes away are `updated`
   * @throws ApiError the server's answer; 409 (`isConflict`) where the object was changed or made again
   * meanwhile
   * @throws OperatorError `InvalidObject`: the document is none of its kind; `TargetMissing`: nothing to
   * patch; `TargetDeleting`: it is on its way out. The caller tries again.
   */
  write(
    key: ObjectKey,
    desired: Document | undefined,
    context: WriteContext,
  ): Promise<TargetOutcome>;
  /**
   * Takes back what was written of an object, and leaves the object: another controller owns it. Absent:
   * the target shares its objects.
   */
  release?(key: ObjectKey, context: WriteContext): Promise<void>;
  /** The keys of all live objects that bear what this target wrote, earlier processes included. */
  written(context: WriteContext): Promise<readonly ObjectKey[]>;
}
