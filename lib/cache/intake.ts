import { deepFreeze } from '../object/deep-freeze.js';
import { checkDepth } from '../object/depth.js';
import { assignMembers, isJsonObject, withoutMember } from '../object/json.js';
import type { KubernetesObject, ObjectMeta } from '../object/kubernetes-object.js';
import { apiVersionOf } from '../object/resource-type.js';
import type { TypeReference } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';
import type { SharedStrings } from './string-pool.js';

/** Changes an object before it is stored. It must not modify its argument. */
export type Transform<T extends KubernetesObject = KubernetesObject> = (object: T) => T;

/** Options of {@link newIntake}. */
export interface IntakeOptions<T extends KubernetesObject> {
  readonly type: TypeReference<T>;
  /** Called for each object, because the result may become true while a cache runs. */
  readonly keepManagedFields: () => boolean;
  /** Keeps only `metadata`. */
  readonly metadataOnly: boolean;
  readonly freeze: boolean;
  /** Makes objects share equal strings. */
  readonly strings: SharedStrings;
  readonly transform?: Transform<T> | undefined;
}

/** `kubectl apply` stores a copy of the whole object in this annotation: half of a cache's memory. */
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
const headMembers = ['apiVersion', 'kind', 'metadata'];
const managedFieldsOnly = ['managedFields'];

/**
 * Returns a function that prepares server objects for the cache. It sets `apiVersion` and `kind` (list items
 * lack them, metadata-only objects have others), and drops the last-applied annotation and, unless kept,
 * `managedFields`. It then applies the transform, shares strings with other objects, and freezes deeply. It
 * never modifies its argument, but the result shares parts with it, which are frozen too.
 *
 * The function throws if an object can't be cached: metadata or name is missing, the transformed object nests
 * too deeply, or the transform throws.
 */
export function newIntake<T extends KubernetesObject>(options: IntakeOptions<T>): Transform<T> {
  const { type, transform, metadataOnly, keepManagedFields } = options;
  const { freeze, strings } = options;
  const { kind } = type;
  const apiVersion = apiVersionOf(type);
  return (object) => {
    checkMetadata(object);
    const metadata = strippedMetadata(object.metadata, keepManagedFields());
    const head: KubernetesObject = { apiVersion, kind, metadata };
    const whole = (metadataOnly ? head : assignMembers(head, object, headMembers)) as T;
    const taken = transform === undefined ? whole : transformed(whole, transform);
    // A frozen object comes from another store of this process, which has already checked it.
    if (!Object.isFrozen(object) || taken !== whole) {
      checkDepth(taken, 'object');
      strings.share(taken);
    }
    return freeze ? deepFreeze(taken) : taken;
  };
}

/** @throws OperatorError `InvalidObject`: the object's key or version is missing or malformed. */
function checkMetadata(object: unknown): void {
  const metadata = isJsonObject(object) ? object.metadata : undefined;
  const { name, namespace = '', resourceVersion = '' } = isJsonObject(metadata) ? metadata : {};
  if (typeof name !== 'string' || name === '') refuse('metadata.name is missing');
  if (typeof namespace !== 'string') refuse('metadata.namespace is not a text');
  if (typeof resourceVersion !== 'string') refuse('metadata.resourceVersion is not a text');
}

function transformed<T extends KubernetesObject>(object: T, transform: Transform<T>): T {
  let result: T;
  try {
    result = transform(object);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new OperatorError('InvalidObject', `transform threw: ${message}`, { cause: error });
  }
  const { metadata } = object;
  const made: unknown = isJsonObject(result) ? result.metadata : undefined;
  const isSame = (field: 'name' | 'namespace' | 'resourceVersion'): boolean =>
    isJsonObject(made) && made[field] === metadata[field];
  if (!isSame('name') || !isSame('namespace') || !isSame('resourceVersion')) {
    refuse('transform must keep metadata.name, namespace and resourceVersion');
  }
  return result;
}

function refuse(problem: string): never {
  throw new OperatorError('InvalidObject', problem);
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
