import { deepFreeze } from '../object/deep-freeze.js';
import type { KubernetesObject, ObjectMeta } from '../object/kubernetes-object.js';
import { assignMembers, withoutMember } from '../object/json.js';
import { apiVersionOf } from '../object/resource-type.js';
import type { TypeReference } from '../object/resource-type.js';
import type { SharedStrings } from './string-pool.js';

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
  /** Has objects share the texts that they have in common. */
  readonly strings: SharedStrings;
  readonly transform?: Transform<T> | undefined;
  /** Told when `transform` throws; the object is then stored as it came. */
  readonly onTransformError: (object: T, error: unknown) => void;
}

/** `kubectl apply` keeps a copy of the whole object in it: half of a cache's memory. */
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
const headMembers = ['apiVersion', 'kind', 'metadata'];
const managedFieldsOnly = ['managedFields'];

/**
 * What turns objects from the server into cached ones: `apiVersion` and `kind` set (list items
 * come without, metadata-only ones with another), without the last-applied annotation and, unless
 * kept, `managedFields`; transformed; texts shared with other objects; deeply frozen. The argument is
 * never changed, but parts of it are shared with the result, and so frozen.
 */
export function newIntake<T extends KubernetesObject>(options: IntakeOptions<T>): Transform<T> {
  const { type, transform, onTransformError, metadataOnly, keepManagedFields } = options;
  const { freeze, strings } = options;
  const { kind } = type;
  const apiVersion = apiVersionOf(type);
  return (object) => {
    const metadata = strippedMetadata(object.metadata, keepManagedFields());
    const head: KubernetesObject = { apiVersion, kind, metadata };
    let taken = (metadataOnly ? head : assignMembers(head, object, headMembers)) as T;
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
  const stripped: ObjectMeta = {};
  assignMembers(stripped, metadata, keepManagedFields ? [] : managedFieldsOnly);
  if (lastApplied) stripped.annotations = withoutMember(annotations, lastAppliedAnnotation);
  return stripped;
}
