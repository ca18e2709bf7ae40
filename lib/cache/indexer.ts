import type { KubernetesObject } from '../object/kubernetes-object.js';
import { controllerOf } from '../object/owner-reference.js';

/**
 * Says under which values an object is found in an index. It must depend on the object alone and
 * always say the same of the same object.
 */
export type Indexer<T extends KubernetesObject = KubernetesObject> = (
  object: T,
) => readonly string[];

/** The name of the index by namespace, which every store has. */
export const namespaceIndex = 'namespace';

/** The name of the index by the UID of the object's controller, which every store has. */
export const controllerUidIndex = 'controllerUid';

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
