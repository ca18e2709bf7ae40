import type { Client } from '../../client/client.js';
import type { ObjectKey } from '../../object/kubernetes-object.js';
import type { Document } from '../document.js';

/** What a write came to. */
export type TargetOutcome = 'created' | 'updated' | 'deleted' | 'unchanged';

/** What a {@link TargetWriter} works with. */
export interface WriteContext {
  readonly client: Client;
  readonly signal: AbortSignal;
}

/** Brings objects of a target to what a pipeline wants. It keeps nothing between calls. */
export interface TargetWriter {
  /**
   * Brings the live object to what is desired; what is so already is not written.
   * @param desired - undefined: it is not wanted any more; what this target wrote goes
   * @throws ApiError the server's answer; an `OperatorError` where the target is missing or the
   * document is none of its kind. The caller tries again.
   */
  write(
    key: ObjectKey,
    desired: Document | undefined,
    context: WriteContext,
  ): Promise<TargetOutcome>;
  /** The keys of all live objects that bear what this target wrote, earlier processes included. */
  written(context: WriteContext): Promise<readonly ObjectKey[]>;
}
