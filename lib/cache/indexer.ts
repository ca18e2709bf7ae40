import type { KubernetesObject } from '../object/kubernetes-object.js';
import { controllerOf, ownerUidLabel } from '../object/owner-reference.js';
import { OperatorError } from '../system/operator-error.js';

/**
 * Returns the values under which an index lists an object; undefined ones are left out. It must depend
 * on the object alone and return the same values for the same object.
 */
export type Indexer<T extends KubernetesObject = KubernetesObject> = (
  object: T,
) => readonly (string | undefined)[];

/** The name of the index by namespace, which every store has. */
export const namespaceIndex = 'namespace';

/** The name of the index by the UID of the object's controller, which every store has. */
export const controllerUidIndex = 'controllerUid';

/** The name of the index of what outlives its owner, by the owner's UID, which every store has. */
export const keptOwnerUidIndex = 'keptOwnerUid';

/** By namespace; cluster-scoped objects are in none. */
export const byNamespace: Indexer = ({ metadata }) =>
  metadata.namespace === undefined || metadata.namespace === '' ? [] : [metadata.namespace];

/** By the UID of the controller owner: what an owner has made is found without an API call. */
export const byControllerUid: Indexer = (object) => {
  const controller = controllerOf(object);
  return controller === undefined ? [] : [controller.uid];
};

/** By the value of the label `name`. */
export function byLabel(name: string): Indexer {
  return ({ metadata: { labels = {} } }) => {
    const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
    return value === undefined ? [] : [value];
  };
}

/** The indexes that every store has, by name. */
export const builtInIndexers: Readonly<Record<string, Indexer>> = {
  [namespaceIndex]: byNamespace,
  [controllerUidIndex]: byControllerUid,
  [keptOwnerUidIndex]: byLabel(ownerUidLabel),
};

/**
 * The values under which the index `name` lists `object`.
 * @throws OperatorError `InvalidObject`: the indexer throws, or returns no array.
 */
export function indexValues<T extends KubernetesObject>(
  name: string,
  indexer: Indexer<T>,
  object: T,
): readonly string[] {
  try {
    const values: unknown = indexer(object);
    if (Array.isArray(values)) {
      const found = values as readonly (string | undefined)[];
      return found.includes(undefined)
        ? found.filter((value) => value !== undefined)
        : (found as string[]);
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new OperatorError('InvalidObject', `index ${name} threw: ${message}`, { cause: error });
  }
  throw new OperatorError('InvalidObject', `index ${name} returned no array`);
}

/** The error for an index that was not declared. */
export function unknownIndex(what: string, name: string, known: Iterable<string>): OperatorError {
  const message = `${what}: no index ${name}; the known ones are ${[...known].join(', ')}`;
  return new OperatorError('InvalidOption', message);
}
