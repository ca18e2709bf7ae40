import type { KubernetesObject } from '../object/index.js';
import { controllerOf, ownerUidLabel } from '../object/index.js';
import { OperatorError } from '../system/index.js';

/**
 * Returns the index values of an object; undefined ones are ignored. The values must depend on the object
 * alone and be the same on each call.
 */
export type Indexer<T extends KubernetesObject = KubernetesObject> = (
  object: T,
) => readonly (string | undefined)[];

/** The name of the built-in index by namespace. */
export const namespaceIndex = 'namespace';

/** The name of the built-in index by the UID of the object's controller. */
export const controllerUidIndex = 'controllerUid';

/** The name of the built-in index by owner UID, of the objects that outlive their owner. */
export const keptOwnerUidIndex = 'keptOwnerUid';

/** Indexes by namespace; cluster-scoped objects have no value. */
export const byNamespace: Indexer = ({ metadata }) =>
  metadata.namespace === undefined || metadata.namespace === '' ? [] : [metadata.namespace];

/** Indexes by the UID of the controller owner, so that an owner's objects are found without an API call. */
export const byControllerUid: Indexer = (object) => {
  const controller = controllerOf(object);
  return controller === undefined ? [] : [controller.uid];
};

/** Returns an indexer by the value of the label `name`. */
export function byLabel(name: string): Indexer {
  const indexer: Indexer = ({ metadata: { labels = {} } }) => {
    const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
    return value === undefined ? [] : [value];
  };
  metadataParts.set(indexer, 'labels');
  return indexer;
}

/** A member of `metadata` that alone determines the values of an indexer. */
export type MetadataPart = 'namespace' | 'ownerReferences' | 'labels';

const metadataParts = new WeakMap<object, MetadataPart>([
  [byNamespace, 'namespace'],
  [byControllerUid, 'ownerReferences'],
]);

/** Returns the part on which the values of `indexer` depend; undefined if that is not known. */
export function metadataPartOf(indexer: Indexer<never>): MetadataPart | undefined {
  return metadataParts.get(indexer);
}

/** The built-in indexes of every store, by name. */
export const builtInIndexers: Readonly<Record<string, Indexer>> = {
  [namespaceIndex]: byNamespace,
  [controllerUidIndex]: byControllerUid,
  [keptOwnerUidIndex]: byLabel(ownerUidLabel),
};

/**
 * Returns the values of `object` in the index `name`.
 * @throws OperatorError `InvalidObject`: the indexer throws or does not return an array of strings.
 */
export function indexValues<T extends KubernetesObject>(
  name: string,
  indexer: Indexer<T>,
  object: T,
): readonly string[] {
  let values: unknown;
  try {
    values = indexer(object);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new OperatorError('InvalidObject', `index ${name} threw: ${message}`, { cause: error });
  }
  if (!Array.isArray(values)) {
    throw new OperatorError(
      'InvalidObject',
      `index ${name}: want an array of strings, got ${typeof values}`,
    );
  }
  const found = values as readonly unknown[];
  return found.every(isText) ? found : textsOf(name, found);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** @throws OperatorError `InvalidObject`: a value is neither a string nor undefined. No lookup would find it. */
function textsOf(name: string, values: readonly unknown[]): readonly string[] {
  const wrong = values.find((value) => value !== undefined && !isText(value));
  if (wrong === undefined) return values.filter(isText);
  const got = wrong === null ? 'null' : typeof wrong;
  throw new OperatorError('InvalidObject', `index ${name}: want strings, got ${got}`);
}

/** Builds the error for an index that was not declared. */
export function unknownIndex(what: string, name: string, known: Iterable<string>): OperatorError {
  const message = `${what}: no index ${name}; the known ones are ${[...known].join(', ')}`;
  return new OperatorError('InvalidOption', message);
}
