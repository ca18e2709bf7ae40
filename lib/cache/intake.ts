import { deepFreeze } from '../object/deep-freeze.js';
import { checkDepth } from '../object/depth.js';
import { assignMembers, isJsonObject, withoutMember } from '../object/json.js';
import type { KubernetesObject, ObjectMeta } from '../object/kubernetes-object.js';
import { apiVersionOf } from '../object/resource-type.js';
import type { TypeReference } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';
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
 *
 * The result throws where an object can't be cached: it has no metadata or name, nests too deeply
 * after the transform, or the transform throws.
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
    // What came frozen is shared by a store of this process, which has checked it.
    if (!Object.isFrozen(object) || taken !== whole) {
      checkDepth(taken, 'object');
      strings.share(taken);
    }
    return freeze ? deepFreeze(taken) : taken;
  };
}

/** @throws OperatorError `InvalidObject`: the server sent something that can't be told from others. */
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
