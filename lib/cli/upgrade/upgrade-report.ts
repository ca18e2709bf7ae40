import type { FieldChange } from '../../object/diff-by-path.js';
import type { ObjectReference } from '../../object/object-reference.js';

/** What is wrong with an upgrade, or to be known before it. */
export type FindingType =
  /** The pods of a workload are replaced. */
  | 'restart'
  /** The server refuses a write of the new version: an immutable field. */
  | 'refused'
  /** An object is deleted and made again. */
  | 'recreated'
  /** An object has another name: the old one is pruned. */
  | 'renamed'
  /** An object is deleted, and nothing comes in its place. */
  | 'pruned'
  /** A claim is deleted, and what is stored in it. */
  | 'claim'
  /** A Service selects none of the pods that run, or none at all. */
  | 'traffic'
  /** A stored resource is not valid by the new schema. */
  | 'schema'
  /** A stored resource loses fields by the new schema. */
  | 'dropped'
  /** A version or a kind is gone that resources are stored in. */
  | 'version'
  /** The new version fails on a resource that the old one can do. */
  | 'failed'
  /** The new version does not come to rest. */
  | 'restless';

/** Something that an upgrade does and that somebody should know of before. */
export interface Finding {
  readonly type: FindingType;
  readonly ref: ObjectReference;
  /** What happens, in words. */
  readonly message: string;
  /** The fields that cause it. */
  readonly changes: readonly FieldChange[];
  /** The objects behind these fields: the ConfigMap whose hash a pod template has. */
  readonly causes: readonly ObjectReference[];
  /** Who refers to the object. */
  readonly users: readonly ObjectReference[];
  /** What to do about it. */
  readonly remedy?: string | undefined;
}

/** A change that harms nobody. */
export interface HarmlessChange {
  readonly action: 'create' | 'configure';
  readonly ref: ObjectReference;
  readonly changes: readonly FieldChange[];
  /** What is to be known of it. */
  readonly note?: string | undefined;
}

/** What came of the check of an upgrade. */
export interface UpgradeReport {
  readonly operator: string;
  /** The stored resources that were replayed. */
  readonly resources: readonly ObjectReference[];
  readonly findings: readonly Finding[];
  readonly changes: readonly HarmlessChange[];
}

/** A finding with nothing but what is needed. */
export function finding(
  type: FindingType,
  ref: ObjectReference,
  rest: Omit<Partial<Finding>, 'type' | 'ref'> & { readonly message: string },
): Finding {
  const { changes = [], causes = [], users = [], message, remedy } = rest;
  const base = { type, ref: withoutUid(ref), message, changes, causes, users };
  return remedy === undefined ? base : { ...base, remedy };
}

/** In a report, names are enough: uids are of the cluster that the check was made in. */
export function withoutUid({
  apiVersion,
  kind,
  namespace,
  name,
}: ObjectReference): ObjectReference {
  return { apiVersion, kind, ...(namespace !== undefined && { namespace }), name };
}
