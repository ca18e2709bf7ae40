import type { Loopback } from '../../apiserver/loopback.js';
import { assignMembers, isJsonObject, memberOf } from '../../object/json.js';
import { plainBytes } from '../../object/known-list.js';
import type { ObjectKey, UnstructuredObject } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import type { ResourceType } from '../../object/resource-type.js';
import type { Document } from '../document.js';
import { bareObject, largestView, metadataOf } from './target-writer.js';
import type {
  TargetKey,
  TargetOutcome,
  TargetWriter,
  WriteContext,
  WriterOptions,
} from './target-writer.js';
import type { Updater } from './updater.js';

/** Options of {@link ViewUpdater}. */
export interface ViewUpdaterOptions extends WriterOptions {
  readonly store: Pick<Loopback, 'put'>;
}

/**
 * An Updater of views, which live in this process. If no other manager has written a view, it is compared
 * with the document and stored without copying the document's parts. All other views are written like objects
 * of a cluster.
 */
export class ViewUpdater implements TargetWriter {
  readonly #updater: Updater;
  readonly #type: ResourceType;
  readonly #manager: string;
  readonly #store: ViewUpdaterOptions['store'];

  constructor(updater: Updater, { type, fieldManager, store }: ViewUpdaterOptions) {
    this.#updater = updater;
    this.#type = type;
    this.#manager = fieldManager;
    this.#store = store;
  }

  async write(
    key: ObjectKey,
    desired: Document | undefined,
    context: WriteContext,
  ): Promise<TargetOutcome> {
    const object = desired && viewOf({ type: this.#type, key }, desired);
    const outcome = object && this.#put(object, context);
    return outcome ?? this.#updater.write(key, desired, context);
  }

  isCurrent(live: UnstructuredObject, desired: Document): boolean {
    const view = viewOf({ type: this.#type, key: keyOf(live) }, desired);
    const options = { manager: this.#manager, dryRun: true };
    const put = view && this.#store.put(view.object, { ...options, bytes: view.bytes });
    return put === undefined ? this.#updater.isCurrent(live, desired) : put.stored === put.live;
  }

  release(key: ObjectKey, context: WriteContext): Promise<void> {
    return this.#updater.release(key, context);
  }

  written(context: WriteContext): Promise<readonly ObjectKey[]> {
    return this.#updater.written(context);
  }

  /** @returns undefined: the view must be written like other objects */
  #put({ object, bytes }: SizedView, { signal, note }: WriteContext): TargetOutcome | undefined {
    signal.throwIfAborted();
    const manager = this.#manager;
    const put = this.#store.put(object, { manager, bytes });
    if (put === undefined) return undefined;
    const { live, stored } = put;
    note?.(live, stored);
    if (live === undefined) return 'created';
    return stored === live ? 'unchanged' : 'updated';
  }
}

interface SizedView {
  readonly object: UnstructuredObject;
  /** Approximate size of its JSON. */
  readonly bytes: number;
}

/** Returns the view of a document; undefined if it has more than labels, annotations and plain content. */
function viewOf(target: TargetKey, document: Document): SizedView | undefined {
  const metadata = metadataOf(target, document);
  if (metadata.finalizers !== undefined || metadata.ownerReferences !== undefined) return undefined;
  const object = bareObject(target, metadata);
  const status = memberOf(document, 'status');
  const isEmpty = isJsonObject(status) && Object.keys(status).length === 0;
  const left = ['apiVersion', 'kind', 'metadata', ...(isEmpty ? ['status'] : [])];
  assignMembers(object, document, left);
  const hasContent = Object.keys(object).length > 3;
  const bytes = plainBytes(object, deepest);
  const isMarked =
    hasContent || metadata.labels !== undefined || metadata.annotations !== undefined;
  // NaN if a part of it is not plain JSON.
  const isSmall = bytes <= largestView;
  return isMarked && isSmall ? { object, bytes: bytes + metadataBytes } : undefined;
}

/** The server rejects deeper views. */
const deepest = 100;
const metadataBytes = 500;
