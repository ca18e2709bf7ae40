import type { Loopback } from '../../apiserver/internal.js';
import { deleteAsRead, withoutForeignFields } from '../../apply/index.js';
import type { ForeignFieldsOptions } from '../../apply/index.js';
import { getIfExists } from '../../client/index.js';
import { hashObject } from '../../hash/index.js';
import {
  isInvalid,
  describeObject,
  assignMembers,
  isJsonObject,
  memberOf,
  plainBytes,
  keyOf,
  keyString,
  keyStringOf,
} from '../../object/index.js';
import type { ObjectKey, UnstructuredObject, ResourceType } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import type { Document } from '../document.js';
import {
  TargetFields,
  bareObject,
  largestView,
  metadataOf,
  scopeProblem,
  targetObject,
  writtenKeys,
} from './target-writer.js';
import type {
  TargetKey,
  TargetObject,
  TargetOutcome,
  TargetWriter,
  WriteContext,
  WriterOptions,
} from './target-writer.js';

/**
 * Owns whole objects: creates them, replaces everything but metadata, and deletes them.
 *
 * ## Flow
 * The Updater applies the document (server-side, with `force`), so that the server merges lists by their keys
 * and keeps its defaults. Fields that the document no longer has are removed by the next apply. It then
 * removes fields that others set by hand, except in metadata. If the server rejects the apply because of an
 * earlier default (`strategy.rollingUpdate` beside `Recreate`), an update replaces the content.
 *
 * ## Guarantees
 * Foreign labels, annotations, finalizers and owner references stay. Fields that other managers apply stay
 * too, so that a Patcher can work on the same object. An object that was changed or recreated meanwhile is a
 * conflict. The Updater deletes only objects that the target has written.
 */
export class Updater implements TargetWriter {
  readonly #type: ResourceType;
  readonly #manager: string;
  readonly #fields: TargetFields;
  /** Hashes, by object, of removed fields that the server sets again as defaults. */
  readonly #defaults = new Map<string, string>();

  constructor({ type, fieldManager }: WriterOptions) {
    this.#type = type;
    this.#manager = fieldManager;
    this.#fields = new TargetFields(fieldManager);
  }

  async write(
    key: ObjectKey,
    desired: Document | undefined,
    context: WriteContext,
  ): Promise<TargetOutcome> {
    const target = { type: this.#type, key };
    const wanted = desired && marked(targetObject(target, desired));
    if (wanted === undefined && scopeProblem(target) !== undefined) return 'unchanged';
    const live = await getIfExists(context.client, this.#type, key, { signal: context.signal });
    if (wanted === undefined) return this.#delete(target, live, context);
    if (live?.metadata.deletionTimestamp !== undefined) throw isBeingDeleted(target);
    const applied = await this.#apply(target, { live, wanted }, context);
    const after = await this.#replace(applied, wanted, context);
    if (live === undefined) return 'created';
    const isSame = after.metadata.resourceVersion === live.metadata.resourceVersion;
    return isSame ? 'unchanged' : 'updated';
  }

  isCurrent(live: UnstructuredObject, desired: Document): boolean {
    const target = { type: this.#type, key: keyOf(live) };
    const wanted = marked(targetObject(target, desired));
    if (live.metadata.deletionTimestamp !== undefined) return false;
    if (!this.#fields.isCurrent(live, { target, wanted })) return false;
    return this.#foreignParts(live, wanted).every((part) => this.#isReplaced(live, part));
  }

  async release(key: ObjectKey, context: WriteContext): Promise<void> {
    const target = { type: this.#type, key };
    const live = await getIfExists(context.client, this.#type, key, { signal: context.signal });
    if (live === undefined || !this.#fields.isIn(live)) return;
    await this.#fields.apply({ live, target, wanted: { object: bareObject(target) } }, context);
  }

  written(context: WriteContext): Promise<readonly ObjectKey[]> {
    return writtenKeys({ type: this.#type, fieldManager: this.#manager }, context);
  }

  async #apply(
    target: TargetKey,
    {
      live,
      wanted,
    }: { readonly live: UnstructuredObject | undefined; readonly wanted: TargetObject },
    context: WriteContext,
  ): Promise<UnstructuredObject> {
    try {
      return await this.#fields.apply({ live, target, wanted }, context);
    } catch (error) {
      if (!isInvalid(error) || live === undefined) throw error;
      const whole = { ...withoutContent(live), ...wanted.object, metadata: live.metadata };
      const replaced = await this.#update(whole, '', context).catch((second: unknown) => {
        // The error of the apply says more about the document.
        throw isInvalid(second) ? error : second;
      });
      return this.#fields.apply({ live: replaced, target, wanted }, context);
    }
  }

  /** Removes fields that users or other managers have set besides the desired ones. */
  async #replace(
    live: UnstructuredObject,
    wanted: TargetObject,
    context: WriteContext,
  ): Promise<UnstructuredObject> {
    let after = live;
    for (const part of this.#foreignParts(live, wanted)) {
      if (this.#isReplaced(after, part)) continue;
      const text = partText(after, part);
      const wanting = withoutForeignFields(after, part);
      after = await this.#update(wanting, part.subresource, context);
      const left = withoutForeignFields(after, part);
      if (left === after) this.#defaults.delete(text);
      else this.#defaults.set(text, hashOfChange(after, left));
    }
    return after;
  }

  #foreignParts(
    live: UnstructuredObject,
    { status }: TargetObject,
  ): readonly ForeignFieldsOptions[] {
    const isInside = this.#fields.hasStatusInside(live);
    const main = { subresource: '', status: isInside } as const;
    return status === undefined || isInside ? [main] : [main, { subresource: 'status' }];
  }

  /** Whether a part has no foreign fields but those that the server sets again as defaults. */
  #isReplaced(live: UnstructuredObject, part: ForeignFieldsOptions): boolean {
    const wanted = withoutForeignFields(live, part);
    if (wanted !== live)
      return this.#defaults.get(partText(live, part)) === hashOfChange(live, wanted);
    this.#defaults.delete(partText(live, part));
    return true;
  }

  #update(
    object: UnstructuredObject,
    subresource: '' | 'status',
    { client, signal }: WriteContext,
  ): Promise<UnstructuredObject> {
    const options = { fieldManager: this.#manager, signal };
    return client.update(object, { ...options, ...(subresource !== '' && { subresource }) });
  }

  async #delete(
    target: TargetKey,
    live: UnstructuredObject | undefined,
    { client, signal }: WriteContext,
  ): Promise<TargetOutcome> {
    this.#fields.forget(target);
    for (const part of ['', 'status']) this.#defaults.delete(`${keyString(target.key)}#${part}`);
    if (live === undefined || live.metadata.deletionTimestamp !== undefined) return 'unchanged';
    // Another writer has created it since.
    if (!this.#fields.isIn(live)) return 'unchanged';
    const options = { propagationPolicy: 'Background', signal } as const;
    await deleteAsRead(client, target.type, live, options);
    return 'deleted';
  }
}

/**
 * Applies empty annotations to an object that has only a name. An apply without fields leaves no entry in
 * `managedFields`, by which `written` finds the object. Only such objects get the mark: the first foreign
 * annotation removes it.
 */
function marked(wanted: TargetObject): TargetObject {
  const { object } = wanted;
  const { labels = {}, annotations = {}, finalizers = [], ownerReferences = [] } = object.metadata;
  const said = [labels, annotations, finalizers, ownerReferences].some(
    (member) => Object.keys(member).length > 0,
  );
  const isContent = Object.keys(object).length > identity.length;
  if (said || isContent) return wanted;
  return { ...wanted, object: { ...object, metadata: { ...object.metadata, annotations: {} } } };
}

const identity = ['apiVersion', 'kind', 'metadata'];

function isBeingDeleted({ type, key }: TargetKey): OperatorError {
  const object = describeObject(type, key);
  const message = `${object} is being deleted; it is created again once it is gone`;
  return new OperatorError('TargetDeleting', message);
}

function withoutContent(live: UnstructuredObject): UnstructuredObject {
  const { apiVersion, kind, metadata, status } = live;
  return { apiVersion, kind, metadata, ...(status !== undefined && { status }) };
}

function partText(live: UnstructuredObject, { subresource }: ForeignFieldsOptions): string {
  return `${keyStringOf(live)}#${subresource}`;
}

function hashOfChange(before: UnstructuredObject, after: UnstructuredObject): string {
  const content = ({ metadata: { uid }, ...rest }: UnstructuredObject) => ({
    ...rest,
    metadata: { uid },
  });
  return hashObject([content(before), content(after)]);
}

/** Options of {@link ViewUpdater}. */
interface ViewUpdaterOptions extends WriterOptions {
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
