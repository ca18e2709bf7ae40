import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { ResourceType } from '../../object/resource-type.js';
import type { Schema } from '../../object/schema.js';
import type { KindRules } from '../rules/kind-rules.js';

/** A subresource as discovery shows it. */
export interface ServedSubresource {
  readonly name: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly string[];
}

/** A decoded body. */
export interface Decoded {
  /** Fresh but for parts that the API keeps as they are. */
  readonly object: UnstructuredObject;
  /** JSON paths of fields that the kind does not have; they are not in `object`. */
  readonly unknownFields: readonly string[];
}

/** A kind in one version of its API: all that requests need to know of it. */
export interface ServedKind {
  readonly type: ResourceType;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: ReadonlyMap<string, ServedSubresource>;
  /** Where its objects are stored: `configmaps`, `apps/deployments`. Versions of a kind share it. */
  readonly collection: string;
  /** Objects are stored in this version of the API. */
  readonly isStorageVersion: boolean;
  readonly rules: KindRules;
  /** Defined by a CustomResourceDefinition. */
  readonly custom: CustomKind | undefined;
  /** The schema, resolved when it is first asked for; undefined: none. */
  schema(): Schema | undefined;
  /**
   * Reads a JSON object as this kind: types checked, unknown fields taken out.
   * @throws DecodeError it does not fit.
   */
  decode(value: Readonly<Record<string, unknown>>): Decoded;
  /** Converts an object of this version to the stored one. */
  toStorage(object: UnstructuredObject): UnstructuredObject;
  /** Converts a stored object to this version; cheap, and the same object where it can be. */
  fromStorage(object: UnstructuredObject): UnstructuredObject;
  /** Objects are converted by somebody else: what asks for many at once. @defaultValue they are not */
  readonly conversions?: KindConversions | undefined;
}

/** Conversions of a kind that a webhook does. */
export interface KindConversions {
  /** Asks for what `fromStorage` of these will need, within a request. */
  prepare(stored: readonly UnstructuredObject[]): void;
  /** As `prepare`, outside of a request. Never rejects. */
  fetch(stored: readonly UnstructuredObject[]): Promise<void>;
}

/** What a CustomResourceDefinition says of a kind beside its schema. */
export interface CustomKind {
  readonly scale: ScalePaths | undefined;
  readonly hasStatus: boolean;
  readonly columns: readonly CustomColumn[];
  /** Its definition is being deleted: nothing can be created. */
  readonly terminating: boolean;
  /**
   * Drops, in place, the nulls that the schema allows nowhere: from bodies and patched objects. What
   * an apply leaves null stays, and is refused.
   */
  dropNulls(object: UnstructuredObject): void;
}

/** Where a custom resource keeps what its scale subresource shows: paths such as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string | undefined;
}

/** `additionalPrinterColumns` of a CRD. */
export interface CustomColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

/** Whether the names of finalizers must say whose they are: for the kinds of Kubernetes proper. */
export function hasQualifiedFinalizers({ type, custom }: ServedKind): boolean {
  const elsewhere = ['apiextensions.k8s.io', 'apiregistration.k8s.io'];
  return custom === undefined && !elsewhere.includes(type.group);
}

/** The subject of errors about an object of `kind`. */
export function subjectOf(
  kind: ServedKind,
  name?: string,
): { group: string; plural: string; name: string | undefined } {
  return { group: kind.type.group, plural: kind.type.plural, name };
}
