import { describeObject } from '../../object/describe-object.js';
import { isJsonObject, memberOf, setMember } from '../../object/json.js';
import type { ObjectKey, ObjectMeta, UnstructuredObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { ResourceType } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';
import type { Document } from '../document.js';
import { operatorOfViewGroup } from '../spec/operator-spec.js';
import { encodeSecret, isSecret } from './secret-data.js';

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
export function statusObject(target: TargetKey, status: unknown): UnstructuredObject {
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
