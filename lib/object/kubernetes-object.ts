/** A reference to an owner; see "Owners and Dependents" in the Kubernetes documentation. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  /** True for the one owner that manages the object. */
  controller?: boolean;
  /** Foreground deletion of the owner waits for this object. */
  blockOwnerDeletion?: boolean;
}

/** The fields that one manager owns by one kind of write. */
export interface ManagedFieldsEntry {
  manager?: string;
  operation?: 'Apply' | 'Update';
  apiVersion?: string;
  /** RFC 3339, whole seconds. */
  time?: string;
  fieldsType?: 'FieldsV1';
  fieldsV1?: FieldsV1;
  subresource?: string;
}

/** A set of fields in the wire format: `f:name`, `k:{"name":"a"}`, `v:"x"`, `i:0`, `.`. */
export interface FieldsV1 {
  [element: string]: FieldsV1;
}

/** `metadata` of every object. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
  /** RFC 3339, whole seconds. */
  creationTimestamp?: string;
  /** RFC 3339, whole seconds. Set while the object is being deleted. */
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  selfLink?: string;
}

/** A Kubernetes object in its wire format: plain JSON, never a class instance. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** A {@link KubernetesObject} whose other fields are untyped. */
export interface UnstructuredObject extends KubernetesObject {
  [field: string]: unknown;
}

/** The name and namespace of an object. */
export interface ObjectKey {
  readonly name: string;
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string | undefined;
}

/** A kind and the version of its API. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** A list as returned by the API server. */
export interface ObjectList<T extends KubernetesObject = UnstructuredObject> {
  apiVersion: string;
  kind: string;
  metadata: ListMeta;
  items: T[];
}

/** `metadata` of a list. */
export interface ListMeta {
  /** The version of the whole collection, from which a watch can continue. */
  resourceVersion?: string;
  /** The token of the next page, to pass as `continue`. */
  continue?: string;
  remainingItemCount?: number;
}
