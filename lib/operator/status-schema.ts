import { isJsonObject } from '../object/index.js';
import type { KubernetesObject, TypeReference } from '../object/index.js';
import type { StatusWriterOptions } from '../status/index.js';

/** The settings of a status writer that the schema of the status decides. */
export type StatusSettings<T extends KubernetesObject> = Pick<
  StatusWriterOptions<T>,
  'atomicConditions' | 'generation'
>;

/**
 * Returns the settings for the status of a kind; undefined if no status is written.
 * @param wanted - the option `status`; undefined lets the schema decide
 * @param refuse - called if the schema has no place for the status that is wanted
 */
export function statusSettings<T extends KubernetesObject>(
  type: TypeReference<T>,
  wanted: boolean | undefined,
  refuse: (problem: string) => never,
): StatusSettings<T> | undefined {
  const schema = statusProperties(type);
  if (wanted === false || (wanted === undefined && schema?.['conditions'] === undefined)) {
    return undefined;
  }
  if (schema === undefined) return { atomicConditions: undefined, generation: true };
  const { conditions, observedGeneration } = schema;
  if (conditions === undefined) {
    const remedy = 'give the version the status s.status(), or leave the option status out';
    return refuse(`the schema of the status has no conditions; ${remedy}`);
  }
  const isMap = isJsonObject(conditions) && conditions['x-kubernetes-list-type'] === 'map';
  const generation = observedGeneration !== undefined;
  return { atomicConditions: !isMap, generation };
}

/** Returns the status properties of a version of `defineResource`; undefined if its schema is unknown. */
function statusProperties(
  type: TypeReference<KubernetesObject>,
): Readonly<Record<string, unknown>> | undefined {
  if (!('statusSchema' in type) || typeof type.statusSchema !== 'function') return undefined;
  const { version } = type as { readonly version: string };
  const schema: unknown = (type as { statusSchema: (version: string) => unknown }).statusSchema(
    version,
  );
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  return isJsonObject(properties) ? properties : {};
}
