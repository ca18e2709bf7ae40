import uniqBy from 'lodash/uniqBy.js';
import type { Client } from '../../client/client.js';
import { isApiError, isNotFound } from '../../object/api-error.js';
import { describeObject } from '../../object/describe-object.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { apiVersionOf, groupOf } from '../../object/resource-type.js';
import type { TypeReference } from '../../object/resource-type.js';
import { isOperatorError } from '../../system/operator-error.js';
import { comparableObject } from './comparable-object.js';

/** An object of a {@link ClusterState}. */
export interface ObservedObject {
  /** For example `ConfigMap shop/env`; a generated name ends in `*` and a number. */
  readonly name: string;
  /** The object as stored on the server. */
  readonly live: UnstructuredObject;
  /** The object as compared with other runs. */
  readonly comparable: UnstructuredObject;
}

/**
 * The objects of a cluster by group, kind, namespace and name. A generated name counts as its prefix with a
 * number, in the order of the objects' content.
 */
export type ClusterState = ReadonlyMap<string, ObservedObject>;

/** Arguments of {@link observe}. */
export interface Observation {
  readonly client: Client;
  readonly kinds: readonly TypeReference<KubernetesObject>[];
  /** The namespace to observe; undefined for all. */
  readonly namespace: string | undefined;
  readonly comparable: (object: UnstructuredObject) => UnstructuredObject;
}

/** Reads the state of a cluster. */
export async function observe(observation: Observation): Promise<ClusterState> {
  const kinds = uniqBy(observation.kinds, (kind) => `${apiVersionOf(kind)} ${kind.kind}`);
  const lists = await Promise.all(kinds.map((kind) => listKind(kind, observation)));
  const { namespace } = observation;
  const all = lists.flat();
  const named = (object: UnstructuredObject): string =>
    withoutNamespace(describeObject(object), namespace);
  const uids = new Map(all.map((object) => [object.metadata.uid ?? '', named(object)]));
  const observed = all.map((live) => {
    const comparable = observation.comparable(comparableObject(live, { uids, namespace }));
    return { name: withoutNamespace(nameOf(live), namespace), live, comparable };
  });
  return new Map(numbered(observed).map((each) => [keyOf(each), each]));
}

async function listKind(
  kind: TypeReference<KubernetesObject>,
  { client, namespace }: Observation,
): Promise<UnstructuredObject[]> {
  try {
    const type = await client.resourceType(kind);
    const within = type.namespaced && namespace !== undefined ? { namespace } : {};
    const { items } = await client.list(type, within);
    const typeMeta = { apiVersion: apiVersionOf(type), kind: type.kind };
    return items.map((item) => ({ ...item, ...typeMeta }));
  } catch (error) {
    if (isWithoutObjects(error)) return [];
    throw error;
  }
}

/** Returns true if the kind has no objects: it is not served, or is only answered, as a review is (405). */
function isWithoutObjects(error: unknown): boolean {
  if (isNotFound(error) || isOperatorError(error, 'UnknownKind')) return true;
  return isApiError(error) && error.status === 405;
}

/** Removes the namespace, because each run may have its own. */
function withoutNamespace(name: string, namespace: string | undefined): string {
  return namespace === undefined ? name : name.replace(`${namespace}/`, '');
}

function nameOf(object: UnstructuredObject): string {
  const { generateName, namespace } = object.metadata;
  if (generateName === undefined) return describeObject(object);
  return describeObject({ kind: object.kind, namespace, name: `${generateName}*` });
}

/** Numbers the objects with the same generated name. */
function numbered(objects: readonly ObservedObject[]): ObservedObject[] {
  const counts = new Map<string, number>();
  const text = ({ comparable }: ObservedObject): string => JSON.stringify(comparable);
  const sorted = objects.toSorted((one, other) => (text(one) < text(other) ? -1 : 1));
  return sorted.map((each) => {
    if (!each.name.endsWith('*')) return each;
    const count = (counts.get(keyOf(each)) ?? 0) + 1;
    counts.set(keyOf(each), count);
    return { ...each, name: `${each.name}${count}` };
  });
}

function keyOf({ name, live }: ObservedObject): string {
  return `${groupOf(live.apiVersion)} ${name}`;
}
