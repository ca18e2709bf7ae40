import type { Views } from '../views/views.js';
import { isViewGroup } from '../spec/operator-spec.js';
import type { Loopback } from '../../apiserver/internal.js';
import { FieldWriter } from '../../apply/index.js';
import type { FieldWriting, Operation, Outcome } from '../../apply/index.js';
import { describeObject, keyOf } from '../../object/index.js';
import type { ObjectKey, UnstructuredObject, ResourceType } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import type { Document } from '../document.js';
import type { TargetType } from '../spec/operator-spec.js';
import { scopeProblem, targetObject, viewOf } from './target-object.js';
import type { SizedView, TargetKey } from './target-object.js';

/** Options of a {@link TargetWriter}. */
export interface WriterOptions {
  readonly type: ResourceType;
  readonly fieldManager: string;
  readonly how: TargetType;
  /** The views of this process. @defaultValue views are written with a client, like other kinds */
  readonly views?: Pick<Views, 'server'> | undefined;
}

/** Context of a {@link TargetWriter}. */
export interface WriteContext extends FieldWriting {
  /** Namespaces that `written` searches. @defaultValue all */
  readonly namespaces?: readonly string[] | undefined;
}

/**
 * Brings objects of a target to the state that a pipeline desires.
 * - An Updater owns whole objects: it creates them, replaces everything but metadata, and deletes them. Foreign
 *   labels, annotations, finalizers and owner references stay. Fields that other managers apply stay too, so
 *   that a Patcher can work on the same object. It deletes only objects that the target has written, and takes over
 *   objects of others unless they have a controller that the document does not name.
 * - A Patcher owns exactly the fields of its documents, in existing objects: items of keyed lists one by one,
 *   all other lists as a whole. In the end it removes all of them, except those that others have applied too.
 *   Earlier values are not restored. A null removes a field, whichever manager owns it.
 * - An Updater of views puts them into the store of this process, without copying the document's parts. A view
 *   that another manager has written is written like an object of a cluster.
 */
export class TargetWriter {
  readonly #options: WriterOptions;
  readonly #fields: FieldWriter;
  /** The store of views that an Updater owns; undefined: it writes with a client. */
  readonly #store: Pick<Loopback, 'put'> | undefined;

  constructor(options: WriterOptions) {
    const { type, fieldManager, how, views } = options;
    const isStored = how === 'Updater' && isViewGroup(type.group);
    this.#options = options;
    const owns = how === 'Patcher' ? 'fields' : 'objects';
    this.#fields = new FieldWriter({ type, fieldManager, owns });
    this.#store = isStored ? views?.server.loopback : undefined;
  }

  /**
   * Brings the live object to the desired state; an up-to-date object is not written.
   * @param desired - undefined: the object is no longer desired; everything that this target wrote is removed
   * @returns `deleted` only for the whole object; fields that a Patcher removes are `configured`
   * @throws ApiError the server's answer; `isStaleWrite` if the object was changed or recreated meanwhile
   * @throws OperatorError `InvalidObject`: the document is not valid for its kind; `TargetMissing`: there is
   * no object to patch; `TargetDeleting`: the object is being deleted; `AlreadyOwned`: an Updater would take over the
   * object of another controller. The caller retries.
   */
  async write(
    key: ObjectKey,
    desired: Document | undefined,
    context: WriteContext,
  ): Promise<Operation> {
    const target = this.#target(key);
    const stored = desired && this.#put(target, desired, context);
    if (stored !== undefined) return stored;
    const wanted = desired && targetObject(target, desired);
    if (wanted === undefined && scopeProblem(target) !== undefined) return 'unchanged';
    return operationOf(target, await this.#fields.write(key, wanted, context));
  }

  /** Whether `live` is in the desired state, so that `write` would write nothing. */
  isCurrent(live: UnstructuredObject, desired: Document): boolean {
    const target = this.#target(keyOf(live));
    const view = this.#viewOf(target, desired);
    const options = { manager: this.#options.fieldManager, dryRun: true };
    const put = view && this.#store?.put(view.object, { ...options, bytes: view.bytes });
    if (put !== undefined) return put.stored === put.live;
    return this.#fields.isCurrent(live, targetObject(target, desired));
  }

  /** Removes what was applied to an object, and leaves the object: another controller owns it. */
  release(key: ObjectKey, context: WriteContext): Promise<void> {
    return this.#fields.release(key, context);
  }

  /** Returns the keys of all live objects that this target wrote, in this or an earlier process. */
  written(context: WriteContext): Promise<readonly ObjectKey[]> {
    return this.#fields.written(context, context.namespaces);
  }

  /** @returns undefined if the object must be written with the client */
  #put(
    target: TargetKey,
    desired: Document,
    { signal, note }: WriteContext,
  ): Operation | undefined {
    const view = this.#viewOf(target, desired);
    if (view === undefined) return undefined;
    signal.throwIfAborted();
    const { fieldManager: manager } = this.#options;
    const put = this.#store?.put(view.object, { manager, bytes: view.bytes });
    if (put === undefined) return undefined;
    const { live, stored } = put;
    note?.(live, stored);
    if (live === undefined) return 'created';
    return stored === live ? 'unchanged' : 'configured';
  }

  #viewOf(target: TargetKey, desired: Document): SizedView | undefined {
    return this.#store === undefined ? undefined : viewOf(target, desired);
  }

  #target(key: ObjectKey): TargetKey {
    return { type: this.#options.type, key };
  }
}

/** @throws OperatorError `TargetMissing`, `TargetDeleting`: the write has to wait. */
function operationOf({ type, key }: TargetKey, outcome: Outcome): Operation {
  if (outcome.state === 'done') return outcome.result.operation;
  const object = describeObject(type, key);
  if (outcome.state === 'pending' && outcome.live !== undefined) {
    const { reason = 'is being deleted' } = outcome.result;
    const message = `${object} ${reason}; it is created again once it is gone`;
    throw new OperatorError('TargetDeleting', message);
  }
  const message = `${object} does not exist, and a Patcher creates no objects`;
  const remedy = 'the write is retried; use an Updater to create it';
  throw new OperatorError('TargetMissing', `${message}: ${remedy}`);
}
