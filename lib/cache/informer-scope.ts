import { matchesFields, parseFieldSelector } from '../object/field-selector.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { matchesLabels, parseLabelSelector } from '../object/label-selector.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Indexer } from './indexer.js';
import type { Transform } from './intake.js';

/** Selects the cached objects of one kind and the parts of them that are kept. */
export interface InformerScope<T extends KubernetesObject> {
  readonly type: TypeReference<T>;
  readonly metadataOnly: boolean;
  /** The namespaces, each with its own watch; undefined for all. */
  readonly namespaces: readonly string[] | undefined;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  readonly transform: Transform<T> | undefined;
  readonly indexers: Readonly<Record<string, Indexer<T>>>;
  readonly keepManagedFields: boolean;
}

/** Returns a test that a watch of this scope shows an object of its kind. */
export function selectedBy({
  namespaces,
  labelSelector,
  fieldSelector,
}: Pick<InformerScope<never>, 'namespaces' | 'labelSelector' | 'fieldSelector'>): (
  object: KubernetesObject,
) => boolean {
  const labels = labelSelector === undefined ? [] : parseLabelSelector(labelSelector);
  const fields = fieldSelector === undefined ? [] : parseFieldSelector(fieldSelector);
  return (object) =>
    (namespaces === undefined || namespaces.includes(object.metadata.namespace ?? '')) &&
    matchesLabels(labels, object.metadata.labels) &&
    matchesFields(fields, object);
}
