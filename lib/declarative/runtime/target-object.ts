import { describeObject } from '../../object/describe-object.js';
import { isJsonObject, memberOf, setMember } from '../../object/json.js';
import type { ObjectKey, ObjectMeta, UnstructuredObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { ResourceType } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';
import type { Document } from '../document.js';
import { operatorOfViewGroup } from '../spec/operator-spec.js';
import { encodeSecret, isSecret } from './secret-data.js';

/** Names an object of a target. */
export interface TargetKey {
  readonly type: ResourceType;
  readonly key: ObjectKey;
}

/** What a document wants of an object. */
export interface TargetObject {
  /** All but the status; of the metadata what a controller may set. */
  readonly object: UnstructuredObject;
  /** Absent: the document has none, or an empty one. */
  readonly status?: unknown;
  /** The maps of nulls that the document has, as a merge patch; absent: it has none. */
  readonly nulls?: Document | undefined;
}

/** The part of an object that is written as its status; `status` undefined: nothing of it. */
export function statusObject(target: TargetKey, status: unknown): UnstructuredObject {
  return { ...bareObject(target), ...(status !== undefined && { status }) };
}

/** An object with nothing but its identity, and `metadata` of which it is made. */
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
 * What `document` wants of the object of `target`, whatever apiVersion and kind the document says. What
 * the server alone sets (a document may be made of the whole metadata of another object) is left out, with
 * it the finalizers and owners of that object, and null counts as absent.
 * @throws OperatorError `InvalidObject`: the scope is wrong, or a member of a wrong type.
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

/** As etcd has it. */
export const largestView = 1.5 * 1024 ** 2;

/** Other kinds are for their server to check. @throws OperatorError `InvalidObject`: it is too large */
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

/** What is wrong where a key has a namespace that may not be, or none where one must be; else undefined. */
export function scopeProblem({ type, key }: TargetKey): string | undefined {
  // Views have both.
  if (operatorOfViewGroup(type.group) !== undefined) return undefined;
  const { namespace = '' } = key;
  if (type.namespaced === (namespace !== '')) return undefined;
  const problem = type.namespaced
    ? 'lives in a namespace, and the document names none: set metadata.namespace'
    : `has no namespaces, and the document names ${namespace}: leave metadata.namespace out`;
  return `${describeObject(type, key)}: ${type.kind} ${problem}`;
}

/** What a document wants of the metadata of an object. */
export function metadataOf(target: TargetKey, document: Document): ObjectMeta {
  const metadata = memberOf(document, 'metadata');
  if (!isJsonObject(metadata)) return {};
  const texts = {
    ...textsOf(target, metadata, 'labels'),
    ...textsOf(target, metadata, 'annotations'),
  };
  const { uid, finalizers, ownerReferences } = metadata as ObjectMeta;
  // Of metadata that is a copy of another object's these are about that one: nobody would ever take
  // such a finalizer off, and owners need not be in the namespace.
  if (!isNone(uid)) return texts;
  return {
    ...texts,
    ...(!isNone(finalizers) && { finalizers }),
    ...(!isNone(ownerReferences) && { ownerReferences: withoutNulls(ownerReferences) as never }),
  };
}

/** @throws OperatorError `InvalidObject`: no map of texts. */
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

/** The nulls in the maps of `value`, those within lists left out. */
function nullsOf(value: Document): Document | undefined {
  const found: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const below = isJsonObject(member) ? nullsOf(member) : undefined;
    if (member === null) setMember(found, name, null);
    else if (below !== undefined) setMember(found, name, below);
  }
  return Object.keys(found).length === 0 ? undefined : found;
}
