import { deepFreeze } from '../object/deep-freeze.js';
import type { KubernetesObject, ObjectMeta } from '../object/kubernetes-object.js';
import { withoutMember } from '../object/json.js';
import { apiVersionOf } from '../object/resource-type.js';
import type { TypeReference } from '../object/resource-type.js';
import type { StringPool } from './string-pool.js';

/** What is done to each object before it is stored. It must not change its argument. */
export type Transform<T extends KubernetesObject = KubernetesObject> = (object: T) => T;

/** Options of {@link newIntake}. */
export interface IntakeOptions<T extends KubernetesObject> {
  readonly type: TypeReference<T>;
  /** Asked for each object: it may turn true while a cache runs. */
  readonly keepManagedFields: () => boolean;
  /** Keep `metadata` only. */
  readonly metadataOnly: boolean;
  readonly freeze: boolean;
  /** One copy of each text that objects have in common. */
  readonly strings: StringPool;
  readonly transform?: Transform<T> | undefined;
  /** Told when `transform` throws; the object is then stored as it came. */
  readonly onTransformError: (object: T, error: unknown) => void;
}

/** `kubectl apply` keeps a copy of the whole object in it: half of a cache's memory. */
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * What turns objects from the server into cached ones: `apiVersion` and `kind` set (list items
 * come without, metadata-only ones with another), without the last-applied annotation and, unless
 * kept, `managedFields`; transformed; texts shared with other objects; deeply frozen. The argument is never changed, but parts of it
 * are shared with the result, and so frozen.
 */
export function newIntake<T extends KubernetesObject>(options: IntakeOptions<T>): Transform<T> {
  const { type, transform, onTransformError, metadataOnly, keepManagedFields } = options;
  const { freeze, strings } = options;
  const head = { apiVersion: apiVersionOf(type), kind: type.kind };
  return (object) => {
    const metadata = strippedMetadata(object.metadata, keepManagedFields());
    const body = metadataOnly ? {} : object;
    let taken = { ...head, ...body, metadata } as unknown as T;
    if (transform !== undefined) {
      try {
        taken = transform(taken);
      } catch (error) {
        onTransformError(object, error);
      }
    }
    strings.share(taken);
    return freeze ? deepFreeze(taken) : taken;
  };
}

function strippedMetadata(metadata: ObjectMeta, keepManagedFields: boolean): ObjectMeta {
  const { annotations } = metadata;
  const lastApplied =
    annotations !== undefined && Object.hasOwn(annotations, lastAppliedAnnotation);
  if (!lastApplied && (keepManagedFields || metadata.managedFields === undefined)) return metadata;
  const { managedFields, ...rest } = metadata;
  const stripped: ObjectMeta = rest;
  if (keepManagedFields && managedFields !== undefined) stripped.managedFields = managedFields;
  if (lastApplied) stripped.annotations = withoutMember(annotations, lastAppliedAnnotation);
  return stripped;
}
