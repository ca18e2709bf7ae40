import omit from 'lodash/omit.js';
import { isJsonObject } from '../../object/json.js';
import type { UnstructuredObject, ManagedFieldsEntry } from '../../object/kubernetes-object.js';

// Values that the server or the cluster generates, so that they differ between runs.
const madeUp: ReadonlySet<string> = new Set([
  ...['clusterIP', 'clusterIPs', 'nodePort', 'healthCheckNodePort'],
  ...['podIP', 'podIPs', 'containerID', 'nodeName'],
]);

const serverSetFields = [
  ...['uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp', 'selfLink'],
  ...['deletionGracePeriodSeconds', 'generation', 'managedFields'],
];

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;

/**
 * Returns `object` without the differences between two runs with the same result: UIDs (those of known
 * objects become their names), times, versions, generations (as long as `observedGeneration` is current),
 * addresses, and the order of managed fields.
 */
export function comparableObject(object: UnstructuredObject, names: Names): UnstructuredObject {
  const { metadata, ...rest } = object;
  const { generation, generateName, managedFields = [], deletionTimestamp } = metadata;
  const kept = omit(metadata, [
    ...serverSetFields,
    ...(generateName === undefined ? [] : ['name']),
  ]);
  const whole = {
    ...rest,
    metadata: {
      ...kept,
      ...(deletionTimestamp !== undefined && { isBeingDeleted: true }),
      managedFields: managedFields.map(withoutTime).toSorted(byText),
    },
  };
  return stable(whole, { ...names, generation }) as UnstructuredObject;
}

/** Replacements of values in a {@link comparableObject}. */
export interface Names {
  /** Names of objects by UID. */
  readonly uids: ReadonlyMap<string, string>;
  /** The namespace of the run, if each run has its own. */
  readonly namespace: string | undefined;
}

interface Known extends Names {
  readonly generation: number | undefined;
}

function stable(value: unknown, known: Known): unknown {
  if (typeof value === 'string') return stableText(value, known);
  if (Array.isArray(value)) return value.map((each) => stable(each, known));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => {
    if (madeUp.has(name)) return [name, '(made up)'];
    const isNewest = name === 'observedGeneration' && member === known.generation;
    return [stableText(name, known), isNewest ? '(newest)' : stable(member, known)];
  });
  return Object.fromEntries(members);
}

function stableText(given: string, { uids, namespace }: Known): string {
  const text = namespace === undefined ? given : given.replaceAll(namespace, '(namespace)');
  if (text.length < 20) return text;
  const timeless = text.replaceAll(time, '(time)');
  return timeless.replaceAll(uuid, (uid) => `(uid of ${uids.get(uid) ?? 'something else'})`);
}

function withoutTime(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  return omit(entry, 'time');
}

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}
