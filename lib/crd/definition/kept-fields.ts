import {
  deepEqual,
  isJsonObject,
  memberOf,
  memberSchemaOf,
  setMember,
  withoutMembers,
} from '../../object/index.js';
import type { Schema, UnstructuredObject } from '../../object/index.js';
import {
  annotated,
  fixedFields,
  isItemStep,
  isOrderStep,
  noFields,
  withoutKeptFields,
} from './kept-annotations.js';
import type { KeptField, Sizes, Step } from './kept-annotations.js';

type Convert = (object: UnstructuredObject) => UnstructuredObject;

/** A conversion of an object from one version to another. */
export interface KeepingStep {
  readonly from: string;
  readonly to: string;
  readonly convert: Convert;
  readonly convertBack: Convert;
  /** Returns an object as the API server stores it: with defaults, without unknown fields. */
  readonly stored: Convert;
  /** Returns the reasons for which the API server would reject an object that `stored` has returned. */
  readonly problems: (stored: UnstructuredObject) => readonly string[];
  readonly schema: (version: string) => Schema;
}

/** A converted object, also as the API server stores it. */
interface Converted {
  readonly object: UnstructuredObject;
  readonly stored: UnstructuredObject;
}

/**
 * Converts an object so that no field is lost when a client writes the converted object. Annotations keep the fields
 * that a conversion back would lose. The conversion back sets each of these fields again, unless a client has changed
 * the converted object there. A list without a key for its items is kept as a whole, since its items may have moved.
 */
export function convertKeeping(object: UnstructuredObject, step: KeepingStep): UnstructuredObject {
  const { from, to } = step;
  const { kept, plain } = withoutKeptFields(object);
  const own = kept.map(({ field }) => field).filter(({ version }) => version === to);
  const others = kept.filter(({ field: { version } }) => version !== to && version !== from);
  const converted = step.convert(plain);
  const shown = storedOf(converted, step);
  // Nothing is kept of an object that is nested too deep for an API server.
  if (shown === undefined) return annotated(converted, others);
  const whole = restored(shown, own, step);
  return annotated(whole.object, others, lostFields(plain, whole, step));
}

function storedOf(object: UnstructuredObject, { stored }: KeepingStep): Converted | undefined {
  try {
    return { object, stored: stored(object) };
  } catch {
    return undefined;
  }
}

/**
 * Returns the fields that differ after the way back. If the way back fails, returns none: that must not fail this
 * conversion.
 */
function lostFields(
  object: UnstructuredObject,
  converted: Converted,
  { from, convertBack, stored, schema }: KeepingStep,
): Sizes {
  try {
    const after = convertBack(converted.stored);
    // Usually nothing is lost, and the comparison of the fields would take most of the time.
    if (deepEqual(object, after)) return noFields;
    const [before, back] = [object, after].map((one) =>
      withoutMembers(stored(one), ...fixedFields),
    );
    const lost = differences({ version: from, path: [], schema: schema(from) }, before, back);
    return { small: lost.flatMap(smallFields), large: lost.map(largeField) };
  } catch {
    return noFields;
  }
}

interface Place {
  readonly version: string;
  readonly path: readonly Step[];
  readonly schema: Schema;
}

interface Difference {
  readonly place: Place;
  readonly value: unknown;
  readonly converted: unknown;
}

function differences(place: Place, value: unknown, converted: unknown): readonly Difference[] {
  if (deepEqual(value, converted)) return [];
  const [before, after] = [partsOf(value, place), partsOf(converted, place)];
  const isAlike = Array.isArray(value) === Array.isArray(converted);
  if (before === undefined || after === undefined || !isAlike) return [{ place, value, converted }];
  const changed = [...new Map([...after, ...before])].flatMap(([id, part]) =>
    differences(part.place, before.get(id)?.value, after.get(id)?.value),
  );
  return Array.isArray(value) ? [...reorderings(place, before, after), ...changed] : changed;
}

/** Returns the order of the items that both lists have, if the two orders differ. */
function reorderings(
  { version, path }: Place,
  before: ReadonlyMap<string, Part>,
  after: ReadonlyMap<string, Part>,
): readonly Difference[] {
  const order = (parts: typeof before, others: typeof before): readonly unknown[] =>
    [...parts].flatMap(([id, part]) => (others.has(id) ? [part.place.path.at(-1)] : []));
  const [value, converted] = [order(before, after), order(after, before)].map((steps) =>
    steps.map((step) => (isItemStep(step) ? step.item : undefined)),
  );
  if (deepEqual(value, converted)) return [];
  const place = { version, path: [...path, { order: true } as const], schema: {} };
  return [{ place, value, converted }];
}

function largeField({ place: { version, path }, ...values }: Difference): KeptField {
  return { version, path, ...values };
}

/**
 * Returns the fields to keep for a lost part: one for each leaf, and one for the part itself. Server-side apply needs a
 * field for each leaf: it compares paths to find what its caller no longer desires, even for managers that wrote the
 * object in other versions. The part itself needs a field because it also has one in the large form: otherwise, a
 * change from one form to the other would let server-side apply delete the part.
 */
function smallFields(lost: Difference): readonly KeptField[] {
  const { place, value, converted } = lost;
  const { version, path } = place;
  const leaves = isOrderStep(path.at(-1)) ? [] : leavesOf(value, place);
  if (!leaves.some((leaf) => leaf.path.length > path.length)) return [largeField(lost)];
  return [
    { version, path, value: Array.isArray(value) ? [] : {}, converted },
    ...leaves.map((leaf) => ({ version, ...leaf, converted, shared: path.length })),
  ];
}

function leavesOf(value: unknown, place: Place): readonly Pick<KeptField, 'path' | 'value'>[] {
  const parts = [...(partsOf(value, place)?.values() ?? [])];
  if (parts.length === 0) return [{ path: place.path, value }];
  return parts.flatMap((part) => leavesOf(part.value, part.place));
}

interface Part {
  readonly place: Place;
  readonly value: unknown;
}

/** Returns the members of an object, or the items of a list; undefined if nothing distinguishes the parts. */
function partsOf(value: unknown, place: Place): ReadonlyMap<string, Part> | undefined {
  const { version, path, schema } = place;
  const parts = new Map<string, Part>();
  const add = (id: string, step: Step, part: unknown, own: Schema = {}): void => {
    parts.set(id, { place: { version, path: [...path, step], schema: own }, value: part });
  };
  if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      add(name, name, member, memberSchemaOf(schema, name));
    }
    return parts;
  }
  if (!Array.isArray(value)) return undefined;
  for (const [at, one] of (value as readonly unknown[]).entries()) {
    const item = identityOf(one, schema);
    if (item !== undefined) add(idOf(item, item), { item, at }, one, schema.items);
  }
  return parts.size === value.length ? parts : undefined;
}

/** Returns what distinguishes an item from the others of its list; undefined if nothing does. */
function identityOf(item: unknown, schema: Schema): unknown {
  const type = schema['x-kubernetes-list-type'];
  if (type === 'set') return typeof item === 'object' ? undefined : item;
  if (type !== 'map' || !isJsonObject(item)) return undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return Object.fromEntries(keys.map((key) => [key, memberOf(item, key)]));
}

/** Returns a text that is the same for items with the same keys, which `identity` names. */
function idOf(item: unknown, identity: unknown): string {
  if (!isJsonObject(identity)) return JSON.stringify(item);
  const members = isJsonObject(item) ? item : {};
  return JSON.stringify(Object.keys(identity).map((key) => memberOf(members, key)));
}

/**
 * Sets the kept fields again, except fields whose converted value a client has changed, and values that the schema
 * refuses. The schema must be checked here: clients may change the annotations, and an API server validates a write
 * only in the version of its client.
 */
function restored(
  converted: Converted,
  fields: readonly KeptField[],
  step: KeepingStep,
): Converted {
  if (fields.length === 0) return converted;
  let known: ReadonlySet<string> | undefined;
  const isKnown = (problem: string): boolean => {
    known ??= new Set(step.problems(converted.stored));
    return known.has(problem);
  };
  const withAll = (before: Converted, some: readonly KeptField[]): Converted | undefined => {
    try {
      const target = { whole: before.object, present: before.stored };
      const next = storedOf(withFields(target, some, 0) as UnstructuredObject, step);
      return next && step.problems(next.stored).every(isKnown) ? next : undefined;
    } catch {
      // The fields may be forged, for example with a path of thousands of names.
      return undefined;
    }
  };
  const whole = withAll(converted, fields);
  if (whole !== undefined) return whole;
  let tries = mostTriesOf(converted.stored, fields);
  const accepted = (before: Converted, groups: readonly (readonly KeptField[])[]): Converted => {
    if (tries-- <= 0) return before;
    const next = withAll(before, groups.flat());
    if (next !== undefined || groups.length === 1) return next ?? before;
    const half = Math.ceil(groups.length / 2);
    return accepted(accepted(before, groups.slice(0, half)), groups.slice(half));
  };
  const groups = grouped(fields, (field) => JSON.stringify(field.path.slice(0, sharedOf(field))));
  return accepted(converted, [...groups.values()]);
}

/**
 * Returns how often `restored` may try a half of the fields to find those that the schema refuses. Forged annotations
 * must not keep the process busy for seconds. Fields that no attempt has accepted are lost.
 */
function mostTriesOf(stored: UnstructuredObject, fields: readonly KeptField[]): number {
  try {
    const megabytes = JSON.stringify([stored, fields]).length / 1e6;
    return Math.min(50, Math.floor(4 / megabytes));
  } catch {
    // The value may be nested too deeply for JSON.
    return 0;
  }
}

function sharedOf({ path, shared = path.length }: KeptField): number {
  return shared;
}

function grouped(
  fields: readonly KeptField[],
  idOfField: (field: KeptField) => string,
): ReadonlyMap<string, readonly KeptField[]> {
  const groups = new Map<string, KeptField[]>();
  for (const field of fields) {
    const id = idOfField(field);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [field]);
    else group.push(field);
  }
  return groups;
}

/** A part of a converted object. */
interface Target {
  readonly whole: unknown;
  /** The part as the API server stores it. */
  readonly present: unknown;
  /** The fields that identify the part, if it is a list item that the object lacks. */
  readonly keys?: Readonly<Record<string, unknown>>;
}

/** Returns a part with the values of fields, whose first `depth` steps lead to the part. */
function withFields(target: Target, fields: readonly KeptField[], depth: number): unknown {
  const { whole, present, keys = {} } = target;
  const unchanged = fields.filter(
    (field) => sharedOf(field) !== depth || deepEqual(present, field.converted),
  );
  const own = unchanged.find(({ path }) => path.length === depth);
  const deeper = unchanged.filter(({ path }) => path.length > depth);
  if (own !== undefined && deeper.length === 0) return own.value;
  const lost = deeper.find((field) => sharedOf(field) <= depth);
  const empty = isItemStep(lost?.path[depth]) ? [] : keys;
  const container = lost === undefined ? { whole, present } : { whole: empty, present: empty };
  if (Array.isArray(container.whole)) return withItems(container, deeper, depth);
  return isJsonObject(container.whole) ? withMembers(container, deeper, depth) : whole;
}

function withMembers(
  { whole, present }: Target,
  fields: readonly KeptField[],
  depth: number,
): unknown {
  const next: Record<string, unknown> = { ...(whole as object) };
  const shown = isJsonObject(present) ? present : {};
  const gone: string[] = [];
  for (const [step, some] of groupedByStep(fields, depth)) {
    if (typeof step !== 'string') continue;
    const target = { whole: memberOf(next, step), present: memberOf(shown, step) };
    const member = withFields(target, some, depth + 1);
    if (member === undefined) gone.push(step);
    else setMember(next, step, member);
  }
  return gone.length === 0 ? next : withoutMembers(next, ...gone);
}

function withItems(
  { whole, present }: Target,
  fields: readonly KeptField[],
  depth: number,
): unknown {
  const next: unknown[] = [...(whole as readonly unknown[])];
  const shown: readonly unknown[] = Array.isArray(present) ? present : [];
  const lost: { readonly at: number; readonly value: unknown }[] = [];
  let places: ReadonlyMap<string, number> | undefined;
  for (const [step, some] of groupedByStep(fields, depth)) {
    if (!isItemStep(step)) continue;
    const { item, at } = step;
    places ??= new Map(shown.map((one, place) => [idOf(one, item), place]));
    const place = places.get(idOf(item, item));
    const target =
      place === undefined
        ? { whole: undefined, present: undefined, ...(isJsonObject(item) && { keys: item }) }
        : { whole: next[place], present: shown[place] };
    const value = withFields(target, some, depth + 1);
    if (place !== undefined) next[place] = value;
    else if (value !== undefined) lost.push({ at, value });
  }
  const order = fields.find(({ path }) => isOrderStep(path[depth]));
  const items: unknown[] = reordered(next, shown, order).filter((item) => item !== undefined);
  for (const { at, value } of lost.sort((one, other) => one.at - other.at)) {
    items.splice(at, 0, value);
  }
  return items;
}

/**
 * Restores the order that the items of a list had before the conversion, unless a client has changed the order since.
 */
function reordered(
  items: readonly unknown[],
  shown: readonly unknown[],
  { value, converted }: Partial<KeptField> = {},
): readonly unknown[] {
  if (!Array.isArray(value) || !Array.isArray(converted)) return items;
  const [identity] = value as readonly unknown[];
  const ids = shown.map((item) => idOf(item, identity));
  const known = new Set(converted.map((item) => idOf(item, identity)));
  const slots = [...ids.keys()].filter((place) => known.has(ids[place] ?? ''));
  const places = new Map(slots.map((place) => [ids[place], place]));
  const inOrder = (identities: readonly unknown[]): readonly number[] =>
    identities.flatMap((item) => places.get(idOf(item, identity)) ?? []);
  const sorted = inOrder(value);
  if (!deepEqual(slots, inOrder(converted)) || sorted.length !== slots.length) return items;
  const next = [...items];
  for (const [index, place] of slots.entries()) next[place] = items[sorted[index] ?? place];
  return next;
}

function groupedByStep(
  fields: readonly KeptField[],
  depth: number,
): readonly (readonly [step: Step, fields: readonly KeptField[]])[] {
  const stepOf = ({ path }: KeptField): Step => path[depth] ?? '';
  const idOfStep = (step: Step): string => {
    if (typeof step === 'string') return step;
    return isItemStep(step) ? JSON.stringify(step.item) : 'order';
  };
  const groups = grouped(fields, (field) => idOfStep(stepOf(field)));
  return [...groups.values()].map((some) => [some.map(stepOf)[0] ?? '', some] as const);
}
