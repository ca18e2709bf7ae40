import unset from 'lodash/unset.js';
import type { CustomResource } from '../crd/index.js';
import { randomValue, withoutKeptFields } from '../crd/internal.js';
import { copyJson, deepEqual, diffObjects, withoutMembers } from '../object/index.js';
import type { KubernetesObject, UnstructuredObject } from '../object/index.js';
import {
  asError,
  OperatorError,
  refuseUnknownOptions,
  seededRandom,
  shortened,
} from '../system/index.js';
import type { Random } from '../system/index.js';
import { shrunk } from './shrink.js';

/** Options of {@link assertRoundTrips}. */
export interface RoundTripOptions {
  /** Seed of the random objects. @defaultValue 1 */
  readonly seed?: number | undefined;
  /** Objects of each round trip, at least 1. @defaultValue 200 */
  readonly count?: number | undefined;
  /**
   * Returns a random object with changes: to satisfy CEL rules that random values rarely satisfy, or without fields
   * that another version may lose. The function is also called for each object from which a field was removed, and for
   * each smaller object that is tried after a loss: an object that it changes is not converted.
   * @defaultValue no changes
   */
  readonly adjust?:
    ((object: UnstructuredObject, random: Random) => UnstructuredObject) | undefined;
}

/**
 * Asserts that the conversions of a resource lose nothing. Converts random valid objects from the hub to each
 * other version and back, and from each other version to the hub and back. As an API server does, it prunes
 * unknown fields after each conversion, and fills in the defaults of the version. It converts every fourth object also
 * without one of its fields, which may be required: this must not throw, since API servers do so for server-side apply.
 *
 * It tests the functions alone: what `X.convert` keeps of lost fields does not count, since clients of the other
 * version do not see it. Annotations that a function adds do not count: it may keep there what a version lacks.
 *
 * @example
 * ```ts
 * it('converts without a loss', () => assertRoundTrips(Widget, { count: 1_000 }));
 * ```
 * @throws OperatorError `ConversionLoss`: a conversion threw, or changed a field; names the first one, with the
 * smallest object found and the seed
 * @throws OperatorError `InvalidOption`: the resource has only one version, too few random objects are valid, or
 * an option is unknown or out of its range
 */
export function assertRoundTrips(
  resource: CustomResource<KubernetesObject, never>,
  options: RoundTripOptions = {},
): void {
  const { seed = 1, count = 200, adjust = unchanged } = options;
  const subject = `assertRoundTrips of ${resource.kind}`;
  refuseUnknownOptions<RoundTripOptions>(subject, options, { seed, count, adjust });
  if (!Number.isSafeInteger(seed)) {
    throw new OperatorError('InvalidOption', `${subject}: seed: want an integer, got ${seed}`);
  }
  if (!(Number.isSafeInteger(count) && count >= 1)) {
    const message = `${subject}: count: want an integer from 1, got ${count}`;
    throw new OperatorError('InvalidOption', message);
  }
  const { hub, versions } = resource;
  const spokes = versions.filter((version) => version !== hub);
  if (spokes.length === 0) {
    const message = `${subject}: want at least two versions, got only ${hub}`;
    throw new OperatorError('InvalidOption', message);
  }
  for (const spoke of spokes) {
    for (const [from, to] of [
      [hub, spoke],
      [spoke, hub],
    ] as const) {
      checkTrip({ resource, from, to, seed, count, adjust, subject });
    }
  }
}

const unchanged = (object: UnstructuredObject): UnstructuredObject => object;

/** Random objects of a version, converted to another version and back. */
interface Trip {
  readonly resource: CustomResource<KubernetesObject, never>;
  readonly from: string;
  readonly to: string;
  readonly seed: number;
  readonly count: number;
  readonly adjust: NonNullable<RoundTripOptions['adjust']>;
  readonly subject: string;
}

/** Random objects are drawn until enough of them are valid, at most this many for each wanted object. */
const mostTries = 100;

/** Every fourth object is also converted without one of its fields; with every object, a run would take much longer. */
const lackingShare = 4;

/** @throws OperatorError `ConversionLoss`, `InvalidOption` */
function checkTrip(trip: Trip): void {
  const { resource, from, count, seed, adjust, subject } = trip;
  // Each trip has its own random source, so that its failures do not depend on the other trips.
  const random = seededRandom(seed);
  const problems = new Map<string, number>();
  let valid = 0;
  for (let tries = 0; tries < count * mostTries && valid < count; tries++) {
    const object = adjust(randomObject(trip, random), random);
    const [cause] = resource.validate(object);
    if (cause === undefined) {
      valid++;
      const given = [{ object, isWhole: true }];
      if (valid % lackingShare === 1) given.push(lackingOne(object, valid / lackingShare));
      for (const one of given) {
        const loss = one.isWhole || isAdjusted(one.object, trip) ? lossOf(one, trip) : undefined;
        if (loss !== undefined) throw failure(loss, one, valid, trip);
      }
    } else {
      const problem = `${cause.field ?? ''}: ${cause.message ?? ''}`;
      problems.set(problem, (problems.get(problem) ?? 0) + 1);
    }
  }
  if (valid === count) return;
  const usual = [...problems].sort(([, one], [, other]) => other - one)[0]?.[0] ?? '';
  const found = `only ${valid} of ${count * mostTries} random objects of ${from} are valid, want ${count}`;
  const remedy = 'make them valid with the option adjust, or lower count';
  throw new OperatorError(
    'InvalidOption',
    `${subject}: ${found} (most often ${usual.slice(0, mostText)}); ${remedy}`,
  );
}

/** An object whose conversion is tested. */
interface Given {
  readonly object: UnstructuredObject;
  /** False if the object may lack required fields and defaults: then only a conversion that throws is a loss. */
  readonly isWhole: boolean;
}

/** Returns an object without the nth of its fields, as API servers convert it for server-side apply. */
function lackingOne(object: UnstructuredObject, nth: number): Given {
  const paths = fieldPaths(withoutMembers(object, 'apiVersion', 'kind', 'metadata'), []);
  const copy = copyJson(object);
  unset(copy, paths[Math.floor(nth) % paths.length] ?? []);
  return { object: copy, isWhole: false };
}

function fieldPaths(value: unknown, path: readonly string[]): readonly string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const own = [...path, name];
    return [...(Array.isArray(value) ? [] : [own]), ...fieldPaths(inner, own)];
  });
}

/** Returns an object with random fields by the schema of a version, and metadata as a server stores it. */
function randomObject(
  { resource, from }: Pick<Trip, 'resource' | 'from'>,
  random: Random,
): UnstructuredObject {
  const fields = randomValue(resource.schema(from), random) as Readonly<Record<string, unknown>>;
  const marks = (name: 'labels' | 'annotations'): UnstructuredObject['metadata'] =>
    random.next() < 0.5 ? { [name]: { 'example.com/a': 'a', 'example.com/b': '' } } : {};
  const metadata = {
    ...{ name: 'sample', ...(resource.namespaced && { namespace: 'default' }) },
    ...{ uid: random.uuid(), resourceVersion: '7', generation: 2 },
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...marks('labels'),
    ...marks('annotations'),
    finalizers: ['example.com/finalizer'],
  };
  return asObject({ ...fields, metadata }, { resource, from });
}

function asObject(
  fields: Readonly<Record<string, unknown>>,
  { resource: { group, kind }, from }: Pick<Trip, 'resource' | 'from'>,
): UnstructuredObject {
  return { ...fields, apiVersion: `${group}/${from}`, kind } as UnstructuredObject;
}

/** A field that a round trip changes, or a conversion that throws. */
interface Loss {
  /** Equal for the same loss in another object. */
  readonly id: string;
  readonly message: string;
  /** The object before the conversions and after each of them. */
  readonly states: readonly UnstructuredObject[];
  readonly cause?: Error | undefined;
}

/** Returns the first loss of an object on its way to another version and back; undefined without one. */
function lossOf({ object, isWhole }: Given, { resource, from, to }: Trip): Loss | undefined {
  const { group } = resource;
  const stored = (given: UnstructuredObject): UnstructuredObject =>
    isWhole ? withoutEmptyMarks(resource.withDefaults(resource.prune(given).value)) : given;
  const states = [stored(object)];
  for (const version of isWhole ? [to, from] : [to]) {
    const last = states.at(-1) ?? object;
    try {
      const converted = resource.convert(last, `${group}/${version}`);
      // The response of a webhook is JSON: members that are undefined are absent. Annotations with kept fields do not
      // count.
      const sent = JSON.parse(JSON.stringify(converted)) as UnstructuredObject;
      states.push(stored(withoutKeptFields(sent).plain));
    } catch (thrown) {
      const cause = asError(thrown);
      const message = `the conversion to ${version} fails: ${cause.message}`;
      return { id: message, message, states, cause };
    }
  }
  if (!isWhole) return undefined;
  const [before = object, , after = object] = states;
  const [change] = diffObjects(before, withoutAdded(after, before));
  if (change === undefined) return undefined;
  const { path, from: old, to: now } = change;
  const what =
    now === undefined
      ? `is lost: it was ${show(old)}`
      : `changes from ${old === undefined ? 'undefined' : show(old)} to ${show(now)}`;
  const type = now === undefined ? 'lost' : old === undefined ? 'added' : 'changed';
  const id = `${type} ${path.replaceAll(/\[[^\]]*\]/g, '[*]')}`;
  return { id, message: `${path} ${what}`, states };
}

/** Returns an object without empty labels and annotations, which a server does not store. */
function withoutEmptyMarks(object: UnstructuredObject): UnstructuredObject {
  const { labels = {}, annotations = {}, ...metadata } = object.metadata;
  const marks = Object.entries({ labels, annotations }).filter(
    ([, entries]) => Object.keys(entries).length > 0,
  );
  return { ...object, metadata: { ...metadata, ...Object.fromEntries(marks) } };
}

/** Returns an object with only those annotations that the second object has too. */
function withoutAdded(
  object: UnstructuredObject,
  { metadata: { annotations: known = {} } }: UnstructuredObject,
): UnstructuredObject {
  const { annotations = {}, ...metadata } = object.metadata;
  const kept = Object.entries(annotations).filter(([key]) => Object.hasOwn(known, key));
  return withoutEmptyMarks({
    ...object,
    metadata: { ...metadata, annotations: Object.fromEntries(kept) },
  });
}

/** The parts of an object to make smaller. The other metadata stays: a server sets it, and conversions may use it. */
interface Shrinkable {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly marks: Pick<UnstructuredObject['metadata'], 'labels' | 'annotations'>;
}

function failure(found: Loss, { object, isWhole }: Given, nth: number, trip: Trip): OperatorError {
  const { resource, from, to, seed, count } = trip;
  const { labels, annotations, ...rest } = object.metadata;
  const lossIn = (parts: unknown): Loss | undefined => {
    const { fields = {}, marks = {} } = parts as Partial<Shrinkable>;
    const candidate = asObject({ ...fields, metadata: { ...rest, ...marks } }, trip);
    if (isWhole && resource.validate(candidate).length > 0) return undefined;
    if (!isAdjusted(candidate, trip)) return undefined;
    const loss = lossOf({ object: candidate, isWhole }, trip);
    return loss?.id === found.id ? loss : undefined;
  };
  const parts: Shrinkable = {
    fields: withoutMembers(object, 'apiVersion', 'kind', 'metadata'),
    marks: { ...(labels && { labels }), ...(annotations && { annotations }) },
  };
  const loss = lossIn(shrunk(parts, (value) => lossIn(value) !== undefined)) ?? found;
  const leave = `, or leave the field out with the option adjust if users of ${to} can do without it`;
  const remedy = `correct the conversion${loss.cause === undefined ? leave : ''}`;
  const lines = loss.states.map((state) => `  ${JSON.stringify(state)}`);
  const message = [
    `${resource.kind} ${from} -> ${to} -> ${from}: ${loss.message}`,
    ...lines,
    `object ${nth} of ${count} with seed ${seed}, shrunk; ${remedy}`,
  ].join('\n');
  return new OperatorError('ConversionLoss', message, { cause: loss.cause });
}

/** Whether the option `adjust` leaves an object as it is. */
function isAdjusted(object: UnstructuredObject, { adjust, seed }: Trip): boolean {
  try {
    const adjusted = adjust(copyJson(object), seededRandom(seed));
    return deepEqual(withoutEmptyMarks(adjusted), withoutEmptyMarks(object));
  } catch {
    // `adjust` may read fields that shrinking has left out.
    return false;
  }
}

const mostText = 200;

function show(value: unknown): string {
  return shortened(JSON.stringify(value), mostText);
}
