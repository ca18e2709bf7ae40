import omit from 'lodash/omit.js';
import uniqBy from 'lodash/uniqBy.js';
import type { Client } from '../../client/index.js';
import {
  isApiError,
  isNotFound,
  describeObject,
  diffObjects,
  redactChanges,
  isJsonObject,
  apiVersionOf,
  groupOf,
} from '../../object/index.js';
import type {
  FieldChange,
  KubernetesObject,
  ManagedFieldsEntry,
  UnstructuredObject,
  TypeReference,
} from '../../object/index.js';
import { isOperatorError, shortened } from '../../system/index.js';
import { describeRequest } from './crash-point.js';
import type { CrashProblem, CrashRequest } from './crash-point.js';
import type { Played, PlayedStep } from './play.js';

/** An object of a {@link ClusterState}. */
interface ObservedObject {
  /** The object, for example `ConfigMap shop/env`. A generated name ends in `*` and a number. */
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
interface Observation {
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

/**
 * Returns true if the kind has no stored objects: the server does not serve it, or only answers requests for
 * it, as for reviews (405).
 */
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
function comparableObject(object: UnstructuredObject, names: Names): UnstructuredObject {
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
interface Names {
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

/**
 * Returns the problems of an interrupted run: its own, and the differences from the uninterrupted run, for
 * each step that both completed, from the interruption on.
 */
export function judgePlay(played: Played, whole: Played): CrashProblem[] {
  const at = played.steps.findLastIndex(({ name }) => name === played.interruptedAt?.step);
  if (at < 1) return [...played.problems];
  const [before, step] = played.steps.slice(at - 1);
  const [wholeBefore, wholeStep] = whole.steps.slice(at - 1);
  if (before === undefined || step === undefined) return [...played.problems];
  if (wholeBefore === undefined || wholeStep === undefined) return [...played.problems];
  return [
    ...createdTwice(step, wholeStep),
    ...replaced([before.state, step.state], [wholeBefore.state, wholeStep.state]),
    ...comparedStates(step.state, wholeStep.state),
    ...played.problems,
  ];
}

function createdTwice(step: PlayedStep, whole: PlayedStep): CrashProblem[] {
  const usual = creationsIn(whole.requests);
  return [...creationsIn(step.requests)].flatMap(([name, count]) => {
    const want = usual.get(name) ?? 0;
    if (count <= Math.max(want, 1)) return [];
    const message = `${name} made an object ${count} times, but ${want} times in the uninterrupted run`;
    return [{ type: 'createdTwice', message } as const];
  });
}

function creationsIn(requests: readonly CrashRequest[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const request of requests.filter(({ created }) => created)) {
    // Each run may have its own namespace.
    const name = describeRequest({ ...request, namespace: undefined });
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

type BeforeAndAfter = readonly [before: ClusterState, after: ClusterState];

/** Returns objects that keep their UID through the step in the uninterrupted run only. */
function replaced([before, after]: BeforeAndAfter, whole: BeforeAndAfter): CrashProblem[] {
  return [...after].flatMap(([key, { name, live }]) => {
    const wasKept = isSame(whole[0].get(key), whole[1].get(key));
    if (!wasKept || !before.has(key) || isSame(before.get(key), after.get(key))) return [];
    const message = `${name} was deleted and recreated: its UID was ${before.get(key)?.live.metadata.uid ?? ''}, now ${live.metadata.uid ?? ''}`;
    return [{ type: 'replaced', message } as const];
  });
}

function isSame(one: ObservedObject | undefined, other: ObservedObject | undefined): boolean {
  return one !== undefined && one.live.metadata.uid === other?.live.metadata.uid;
}

function comparedStates(state: ClusterState, whole: ClusterState): CrashProblem[] {
  const orphans = [...state].filter(([key]) => !whole.has(key)).map(([, each]) => orphan(each));
  const others = [...whole].flatMap(([key, want]): CrashProblem[] => {
    const found = state.get(key);
    const missing = `${want.name} is missing, but exists in the uninterrupted run`;
    if (found === undefined) return [{ type: 'missing', message: missing }];
    return differences(found, want);
  });
  return [...orphans, ...others];
}

function orphan({ name, live }: ObservedObject): CrashProblem {
  const { finalizers = [], deletionTimestamp } = live.metadata;
  if (deletionTimestamp !== undefined && finalizers.length > 0) {
    const message = `${name} is held by ${finalizers.join(', ')}, but is gone in the uninterrupted run`;
    return { type: 'finalizerLeft', message };
  }
  return { type: 'orphan', message: `${name} exists, but not in the uninterrupted run` };
}

const longestList = 5;

function differences(found: ObservedObject, want: ObservedObject): CrashProblem[] {
  const changes = diffObjects(want.comparable, found.comparable);
  if (changes.length === 0) return [];
  const shown = redactChanges(found.live.kind, changes).slice(0, longestList).map(describeChange);
  const more = changes.length - shown.length;
  const rest = more > 0 ? `; and ${more} more` : '';
  const message = `${found.name} differs from the uninterrupted run: ${shown.join('; ')}${rest}`;
  return [{ type: 'differs', message }];
}

function describeChange({ path, from, to }: FieldChange): string {
  return `${path}: ${textOf(from)} there, ${textOf(to)} here`;
}

const longestText = 200;

function textOf(value: unknown): string {
  return value === undefined ? 'nothing' : shortened(JSON.stringify(value), longestText);
}
