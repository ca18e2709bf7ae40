import type { Client } from '../../client/index.js';
import type {
  KubernetesObject,
  ObjectKey,
  UnstructuredObject,
  ObjectMeta,
  ResourceType,
} from '../../object/index.js';
import type { Document } from '../document.js';
import { AppliedPart } from '../../apply/index.js';
import {
  isNotFound,
  describeObject,
  isJsonObject,
  memberOf,
  setMember,
  apiVersionOf,
  keyOf,
} from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { operatorOfViewGroup } from '../spec/operator-spec.js';
import { encodeSecret, isSecret } from './secret-data.js';

/** Options of the writers of a target. */
export interface WriterOptions {
  readonly type: ResourceType;
  readonly fieldManager: string;
}

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
 * Brings objects of a target to the state that a pipeline desires. Between calls it only keeps the spelling
 * that the server gives to applied values, such as defaults within an atomic list. After a restart the writer
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

/** A live object, undefined if it does not exist, and the desired state of a document. */
export interface Wanted {
  readonly live: UnstructuredObject | undefined;
  readonly target: TargetKey;
  /** An object without fields removes everything that was applied. */
  readonly wanted: TargetObject;
}

/** The place of the status of a kind. */
type StatusPlace = 'subresource' | 'object';

/**
 * Applies the desired state of documents under one field manager: the object, and its status if it has one.
 * `managedFields`, or the first write, shows whether the status is a subresource.
 */
export class TargetFields {
  readonly #main: AppliedPart;
  readonly #status: AppliedPart;
  #place: StatusPlace | undefined;

  constructor(manager: string) {
    this.#main = new AppliedPart({ manager, subresource: '' });
    this.#status = new AppliedPart({ manager, subresource: 'status' });
  }

  /** Whether the manager has applied any field of `live`. */
  isIn(live: UnstructuredObject): boolean {
    return this.#main.isIn(live) || this.#status.isIn(live);
  }

  /** Whether the manager has applied the status as an ordinary field of the object. */
  hasStatusInside(live: UnstructuredObject): boolean {
    return this.#main.has(live, 'status');
  }

  /** Whether {@link TargetFields.apply} would write nothing, as far as is known. */
  isCurrent(
    live: UnstructuredObject,
    { target, wanted }: Pick<Wanted, 'target' | 'wanted'>,
  ): boolean {
    const { object, status } = wanted;
    const place = this.#placeIn(live);
    const main = place === 'object' && status !== undefined ? { ...object, status } : object;
    if (!this.#main.isCurrent(live, main)) return false;
    if (status === undefined && !this.#status.isIn(live)) return true;
    if (place === 'object') return this.hasStatusInside(live);
    return this.#status.isCurrent(live, statusObject(target, status));
  }

  /** @returns the resulting object: `live` itself if it is up to date */
  async apply(
    { live, target, wanted }: Wanted,
    context: WriteContext,
  ): Promise<UnstructuredObject> {
    const { object, status } = wanted;
    const place = this.#placeIn(live);
    const whole = status === undefined ? object : { ...object, status };
    const main = place === 'object' ? whole : object;
    const written = await this.#main.apply({ live, desired: main }, context);
    if (status === undefined && !this.#status.isIn(written)) return written;
    // If the kind has gained the subresource meanwhile, the server has ignored the status.
    if (place === 'object' && this.hasStatusInside(written)) return written;
    const desired = statusObject(target, status);
    try {
      const answer = await this.#status.apply({ live: written, desired }, context);
      this.#place = 'subresource';
      return answer;
    } catch (error) {
      // The object is gone, or its kind has no status subresource.
      if (!isNotFound(error) || place === 'subresource') throw error;
      this.#place = 'object';
      return this.#main.apply({ live: written, desired: whole }, context);
    }
  }

  /** Discards the state of an object that is no longer desired. */
  forget(target: TargetKey): void {
    this.#main.forget(bareObject(target));
    this.#status.forget(bareObject(target));
  }

  #placeIn(live: UnstructuredObject | undefined): StatusPlace | undefined {
    const entries = live?.metadata.managedFields ?? [];
    if (entries.some(({ subresource }) => subresource === 'status')) return 'subresource';
    return live !== undefined && this.hasStatusInside(live) ? 'object' : this.#place;
  }
}

/** Identifies an object of a target. */
export interface TargetKey {
  readonly type: ResourceType;
  readonly key: ObjectKey;
}

/** The desired state of an object, made from a document. */
export interface TargetObject {
  /** Everything but the status, with the metadata that a controller may set. */
  readonly object: UnstructuredObject;
  /** Absent if the document has no status or an empty one. */
  readonly status?: unknown;
  /** The nulls in the maps of the document, as a merge patch; absent if there are no nulls. */
  readonly nulls?: Document | undefined;
}

/**
 * Returns the part of an object that is written as its status. An undefined `status` leaves only the
 * identity.
 */
function statusObject(target: TargetKey, status: unknown): UnstructuredObject {
  return { ...bareObject(target), ...(status !== undefined && { status }) };
}

/** Returns an object with only its identity and the given `metadata`. */
export function bareObject(
  { type, key }: TargetKey,
  metadata: ObjectMeta = {},
): UnstructuredObject {
  const { name, namespace = '' } = key;
  const identity = namespace === '' ? { name } : { name, namespace };
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { ...identity, ...metadata },
  };
}

/**
 * Returns the desired state of the object of `target`; apiVersion and kind of the document are ignored.
 * Server-set metadata is omitted, because a document may copy the whole metadata of another object. The
 * finalizers and owners of such a copy are omitted too. A null counts as absent.
 * @throws OperatorError `InvalidObject`: the scope is wrong, or a member has a wrong type.
 */
export function targetObject(target: TargetKey, document: Document): TargetObject {
  const problem = scopeProblem(target);
  if (problem !== undefined) throw new OperatorError('InvalidObject', problem);
  const encoded = isSecret(target.type) ? encodeSecret(document) : document;
  const object: UnstructuredObject = bareObject(target, metadataOf(target, encoded));
  for (const [name, value] of Object.entries(encoded)) {
    if (['apiVersion', 'kind', 'metadata', 'status'].includes(name) || isNone(value)) continue;
    setMember(object, name, withoutNulls(value));
  }
  checkViewSize(target, encoded);
  const nulls = nullsOf(encoded);
  const status = withoutNulls(memberOf(encoded, 'status'));
  const isEmpty = isNone(status) || (isJsonObject(status) && Object.keys(status).length === 0);
  return { object, nulls, ...(!isEmpty && { status }) };
}

/** The limit of etcd. */
export const largestView = 1.5 * 1024 ** 2;

/**
 * Checks views only: the server checks other kinds. @throws OperatorError `InvalidObject`: the view is too
 * large
 */
function checkViewSize({ type, key }: TargetKey, document: Document): void {
  if (operatorOfViewGroup(type.group) === undefined) return;
  const bytes = Buffer.byteLength(JSON.stringify(document));
  if (bytes <= largestView) return;
  const object = describeObject(type, key);
  const problem = `${object}: a view has at most 1.5 MiB, got ${bytes} bytes`;
  throw new OperatorError('InvalidObject', `${problem}; split it into several`);
}

function isNone(value: unknown): boolean {
  return value === undefined || value === null;
}

/** Returns the problem of a key with a forbidden or missing namespace; undefined if the key is valid. */
export function scopeProblem({ type, key }: TargetKey): string | undefined {
  // Views may be namespaced or not.
  if (operatorOfViewGroup(type.group) !== undefined) return undefined;
  const { namespace = '' } = key;
  if (type.namespaced === (namespace !== '')) return undefined;
  const problem = type.namespaced
    ? 'lives in a namespace, and the document names none: set metadata.namespace'
    : `has no namespaces, and the document names ${namespace}: leave metadata.namespace out`;
  return `${describeObject(type, key)}: ${type.kind} ${problem}`;
}

/** Returns the desired metadata of an object. */
export function metadataOf(target: TargetKey, document: Document): ObjectMeta {
  const metadata = memberOf(document, 'metadata');
  if (!isJsonObject(metadata)) return {};
  const texts = {
    ...textsOf(target, metadata, 'labels'),
    ...textsOf(target, metadata, 'annotations'),
  };
  const { uid, finalizers, ownerReferences } = metadata as ObjectMeta;
  // In metadata with a uid, a copy of another object's, these refer to that object. No controller would
  // remove such a finalizer, and the owners may be in another namespace.
  if (!isNone(uid)) return texts;
  return {
    ...texts,
    ...(!isNone(finalizers) && { finalizers }),
    ...(!isNone(ownerReferences) && { ownerReferences: withoutNulls(ownerReferences) as never }),
  };
}

/** @throws OperatorError `InvalidObject`: the member is not a map of texts. */
function textsOf(
  { type, key }: TargetKey,
  metadata: Document,
  member: 'labels' | 'annotations',
): ObjectMeta {
  const texts = memberOf(metadata, member);
  if (isNone(texts)) return {};
  const wrong = isJsonObject(texts)
    ? Object.keys(texts).find((name) => !isNone(texts[name]) && typeof texts[name] !== 'string')
    : '';
  if (wrong === undefined) {
    const set = withoutNulls(texts) as Record<string, string>;
    return Object.keys(set).length === 0 ? {} : { [member]: set };
  }
  const where = wrong === '' ? member : `${member}[${JSON.stringify(wrong)}]`;
  const want = wrong === '' ? 'a map of texts' : 'a text (@string makes one)';
  const object = describeObject(type, key);
  throw new OperatorError('InvalidObject', `${object}: metadata.${where}: want ${want}`);
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => !isNone(member));
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

/** Returns the nulls in the maps of `value`, except within lists. */
function nullsOf(value: Document): Document | undefined {
  const found: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const below = isJsonObject(member) ? nullsOf(member) : undefined;
    if (member === null) setMember(found, name, null);
    else if (below !== undefined) setMember(found, name, below);
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

/**
 * Returns the keys of all live objects of `type` to which `fieldManager` has applied fields, according to
 * `managedFields`. Reads only metadata, page by page.
 */
export async function writtenKeys(
  { type, fieldManager }: WriterOptions,
  { client, signal, namespaces }: WriteContext,
): Promise<readonly ObjectKey[]> {
  const keys: ObjectKey[] = [];
  for (const namespace of namespaces ?? [undefined]) {
    const options = { metadataOnly: true, signal, namespace } as const;
    for await (const { items } of client.pages(type, options)) {
      keys.push(...items.filter((object) => isAppliedBy(fieldManager, object)).map(keyOf));
    }
  }
  return keys;
}

function isAppliedBy(fieldManager: string, { metadata }: KubernetesObject): boolean {
  const { managedFields = [] } = metadata;
  return managedFields.some(
    ({ manager, operation }) => manager === fieldManager && operation === 'Apply',
  );
}
