import {
  describeObject,
  isJsonObject,
  memberOf,
  setMember,
  withoutNulls,
  apiVersionOf,
  assignMembers,
  plainBytes,
} from '../../object/index.js';
import type {
  ObjectKey,
  UnstructuredObject,
  ObjectMeta,
  ResourceType,
} from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import type { DesiredFields } from '../../apply/index.js';
import type { Document } from '../document.js';
import { isViewGroup } from '../spec/operator-spec.js';
import { encodeSecret, isSecret } from './secret-data.js';

/** Identifies an object of a target. */
export interface TargetKey {
  readonly type: ResourceType;
  readonly key: ObjectKey;
}

/** Returns an object with only its identity and the given `metadata`. */
function bareObject({ type, key }: TargetKey, metadata: ObjectMeta = {}): UnstructuredObject {
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
export function targetObject(target: TargetKey, document: Document): DesiredFields {
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

/** etcd's limit for an object, in bytes. */
const largestView = 1.5 * 1024 ** 2;

/**
 * Checks the size of a view. An API server checks the size of all other objects.
 * @throws OperatorError `InvalidObject`: the view is too large
 */
function checkViewSize({ type, key }: TargetKey, document: Document): void {
  if (!isViewGroup(type.group)) return;
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
  if (isViewGroup(type.group)) return undefined;
  const { namespace = '' } = key;
  if (type.namespaced === (namespace !== '')) return undefined;
  const problem = type.namespaced
    ? 'is namespaced, and the document has no namespace: set metadata.namespace'
    : `is cluster-scoped, and the document has the namespace ${namespace}: leave metadata.namespace out`;
  return `${describeObject(type, key)}: ${type.kind} ${problem}`;
}

function metadataOf(target: TargetKey, document: Document): ObjectMeta {
  const metadata = memberOf(document, 'metadata');
  if (!isJsonObject(metadata)) return {};
  const texts = {
    ...textsOf(target, metadata, 'labels'),
    ...textsOf(target, metadata, 'annotations'),
  };
  const { uid, finalizers, ownerReferences } = metadata as ObjectMeta;
  // If metadata has a uid, it was copied from another object, and so were these finalizers or owners. No controller
  // would remove such a finalizer, and the owners may be in another namespace.
  if (!isNone(uid)) return texts;
  return {
    ...texts,
    ...(!isNone(finalizers) && { finalizers }),
    ...(!isNone(ownerReferences) && { ownerReferences: withoutNulls(ownerReferences) as never }),
  };
}

/** @throws OperatorError `InvalidObject`: the member is not a map of strings. */
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
  const want = wrong === '' ? 'a map of strings' : 'a string (@string makes one)';
  const object = describeObject(type, key);
  throw new OperatorError('InvalidObject', `${object}: metadata.${where}: want ${want}`);
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

/** A view to store without a copy. */
export interface SizedView {
  readonly object: UnstructuredObject;
  /** Approximate size of its JSON. */
  readonly bytes: number;
}

/** Returns a document as a view; undefined if it is empty, too large, or has finalizers, owners or data beyond JSON. */
export function viewOf(target: TargetKey, document: Document): SizedView | undefined {
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
