import omit from 'lodash/omit.js';
import { isJsonObject } from '../../object/json.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { ManagedFieldsEntry } from '../../object/kubernetes-object.js';

// What the server or the cluster makes up, so that it differs from run to run.
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
 * `object` without what differs between two runs that came to the same end: UIDs (those of known
 * objects become their names), times, versions, generations (as long as `observedGeneration` is the
 * newest one), addresses, and the order of managed fields.
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

/** What stands for what in a {@link comparableObject}. */
export interface Names {
  /** The objects that have them. */
  readonly uids: ReadonlyMap<string, string>;
  /** The one in which the run takes place, where each has its own. */
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
