/** Names an owner of an object; see "Owners and Dependents" in the Kubernetes documentation. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  /** The one owner that manages the object. */
  controller?: boolean;
  /** Foreground deletion of the owner waits for this object. */
  blockOwnerDeletion?: boolean;
}

/** Which fields one manager owns, by one kind of write. */
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

/** The set of fields in the wire's form: `f:name`, `k:{"name":"a"}`, `v:"x"`, `i:0`, `.`. */
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
  /** RFC 3339, whole seconds: the object is being deleted. */
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  selfLink?: string;
}

/** A Kubernetes object as it is on the wire: plain JSON, never a class instance. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** A {@link KubernetesObject} whose other fields are of no known type. */
export interface UnstructuredObject extends KubernetesObject {
  [field: string]: unknown;
}

/** Names an object among those of its kind. */
export interface ObjectKey {
  readonly name: string;
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string | undefined;
}

/** Names a kind and the version of its API. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** A list as the API server answers it. */
export interface ObjectList<T extends KubernetesObject = UnstructuredObject> {
  apiVersion: string;
  kind: string;
  metadata: ListMeta;
  items: T[];
}

/** `metadata` of a list. */
export interface ListMeta {
  /** The version of the whole collection that the list shows; a watch goes on from it. */
  resourceVersion?: string;
  /** More items follow: pass it as `continue`. */
  continue?: string;
  remainingItemCount?: number;
}
