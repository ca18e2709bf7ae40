import type { ObjectMeta, UnstructuredObject } from '../../object/kubernetes-object.js';
import type { WebhookAddress } from '../outside/webhook-client.js';
import type { Schema } from '../../object/schema.js';
import type { CustomColumn, ScalePaths } from '../kinds/served-kind.js';

/** The fields of a CustomResourceDefinition that this server reads. */
export interface Crd {
  readonly metadata: ObjectMeta;
  readonly spec: CrdSpec;
  readonly status?: CrdStatus;
}

/** `spec` of a CRD. */
export interface CrdSpec {
  readonly group: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly names: CrdNames;
  readonly versions: readonly CrdVersion[];
  readonly conversion?: CrdConversion;
}

/** The conversion of objects between versions. */
export interface CrdConversion {
  readonly strategy: string;
  readonly webhook?: {
    readonly clientConfig: WebhookAddress;
    readonly conversionReviewVersions: readonly string[];
  };
}

/** The names of a custom resource. */
export interface CrdNames {
  readonly plural: string;
  readonly kind: string;
  readonly singular?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** A version of a custom resource. */
export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: { readonly status?: object; readonly scale?: ScalePaths };
  readonly additionalPrinterColumns?: readonly CustomColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** `status` of a CRD. */
export interface CrdStatus {
  readonly conditions?: readonly CrdCondition[] | null;
  readonly acceptedNames?: CrdNames;
  readonly storedVersions?: readonly string[] | null;
}

/** A condition of a CRD. */
export interface CrdCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Returns a stored CRD with its type. The decoder guarantees its form. */
export function crdOf(object: UnstructuredObject): Crd {
  return object as unknown as Crd;
}

/** Returns the CRD with `condition`, which replaces the previous condition of its type. */
export function withCondition(
  object: UnstructuredObject,
  condition: CrdCondition,
): UnstructuredObject {
  const { status } = crdOf(object);
  const others = (status?.conditions ?? []).filter(({ type }) => type !== condition.type);
  return { ...object, status: { ...status, conditions: [...others, condition] } };
}

/** The collection of CRDs in the storage. */
export const crdCollection = 'apiextensions.k8s.io/customresourcedefinitions';
