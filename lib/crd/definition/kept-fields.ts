import {
  deepEqual,
  isJsonObject,
  labelValueOf,
  memberOf,
  memberSchemaOf,
  setMember,
  withoutMembers,
} from '../../object/index.js';
import type { ObjectMeta, Schema, UnstructuredObject } from '../../object/index.js';

/** The prefix of the annotations of a converted object with the fields that its version cannot express. */
const prefix = 'kept-fields.operator-builder.io/';

/**
 * Fields that are never kept. An API server refuses a conversion that changes the type or the metadata, and with it each
 * list. A client without permission for the status may write annotations, and would set a status by them.
 */
const fixedFields: readonly string[] = ['apiVersion', 'kind', 'metadata', 'status'];

/**
 * A field that a conversion and the way back lose, change or add. Each one has an annotation of its own: server-side
 * apply computes by path what its caller no longer wants, also for managers that wrote the object in other versions.
 */
interface KeptField {
  /** The version that has the field. */
  readonly version: string;
  readonly path: readonly Step[];
  /**
   * The number of steps of `path` that lead to `converted`, if it is not all of them: the other version lacks
   * the parent of the field, too.
   */
  readonly shared?: number;
  /** The value before; undefined if the conversion adds the field. */
  readonly value?: unknown;
  /** The value after the conversion and back; undefined if it is lost. */
  readonly converted?: unknown;
}

/** The annotation of an object that keeps a field. */
interface Annotation {
  readonly name: string;
  readonly text: string;
  readonly field: KeptField;
}

/** The name of a member, or an item of a list whose items the schema tells apart. */
type Step = string | ItemStep;

interface ItemStep {
  /** The item of a set; the keys of an item of a list of type map. */
  readonly item: unknown;
  /** The place to which the item returns if the conversion loses it. */
  readonly at: number;
}

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
 * Converts an object so that no field is lost when a client writes the converted object: fields that do not
 * survive the way back are kept in annotations. The way back sets each of them again, unless the converted
 * object has been changed there. A list whose items the schema does not tell apart is kept as a whole, since its items
 * may have moved.
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
  const lost = lostFields(plain, whole, step).map(annotationOf);
  return annotated(whole.object, [...others, ...lost]);
}

function storedOf(object: UnstructuredObject, { stored }: KeepingStep): Converted | undefined {
  try {
    return { object, stored: stored(object) };
  } catch {
    return undefined;
  }
}

/** Returns the fields that differ after the way back; none if that fails, which must not fail this conversion. */
function lostFields(
  object: UnstructuredObject,
  converted: Converted,
  { from, convertBack, stored, schema }: KeepingStep,
): readonly KeptField[] {
  try {
    const after = convertBack(converted.stored);
    // Usually nothing is lost, and most of the time would go into the rest.
    if (deepEqual(object, after)) return [];
    const [before, back] = [object, after].map((one) =>
      withoutMembers(stored(one), ...fixedFields),
    );
    return differences({ version: from, path: [], schema: schema(from) }, before, back);
  } catch {
    return [];
  }
}

interface Place {
  readonly version: string;
  readonly path: readonly Step[];
  readonly schema: Schema;
}

function differences(place: Place, value: unknown, converted: unknown): readonly KeptField[] {
  if (deepEqual(value, converted)) return [];
  const { version, path } = place;
  const [before, after] = [partsOf(value, place), partsOf(converted, place)];
  const isAlike = Array.isArray(value) === Array.isArray(converted);
  if (before === undefined || after === undefined || !isAlike) {
    return leavesOf(value, place).map((leaf) => ({
      ...{ version, ...leaf, converted },
      ...(leaf.path.length > path.length && { shared: path.length }),
    }));
  }
  return [...new Map([...after, ...before])].flatMap(([id, part]) =>
    differences(part.place, before.get(id)?.value, after.get(id)?.value),
  );
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

/** Returns the members of an object, or the items of a list; undefined if nothing tells the parts apart. */
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

/** Returns what tells an item from the others of its list; undefined if nothing does. */
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

function isItemStep(step: unknown): step is ItemStep {
  return isJsonObject(step) && 'item' in step && Number.isInteger(step['at']);
}

/**
 * Sets the kept fields again, except where a client has changed what the conversion made of them, and those that the
 * schema refuses: an API server validates a write only in the version of its client, who may change the annotations.
 */
function restored(
  converted: Converted,
  fields: readonly KeptField[],
  step: KeepingStep,
): Converted {
  if (fields.length === 0) return converted;
  const whole = withAll(converted, fields, step);
  if (whole !== undefined) return whole;
  let tries = mostTries;
  const accepted = (before: Converted, groups: readonly (readonly KeptField[])[]): Converted => {
    const next = tries-- > 0 ? withAll(before, groups.flat(), step) : before;
    if (next !== undefined || groups.length === 1) return next ?? before;
    const half = Math.ceil(groups.length / 2);
    return accepted(accepted(before, groups.slice(0, half)), groups.slice(half));
  };
  const groups = grouped(fields, (field) => JSON.stringify(field.path.slice(0, sharedOf(field))));
  return accepted(converted, [...groups.values()]);
}

/** Limits the search for refused fields by halves: forged annotations must not keep the process busy for seconds. */
const mostTries = 50;

/** Returns an object with fields; undefined if that makes a valid object invalid, or adds problems to another one. */
function withAll(
  before: Converted,
  fields: readonly KeptField[],
  { stored, problems }: KeepingStep,
): Converted | undefined {
  try {
    const target = { whole: before.object, present: before.stored };
    const object = withFields(target, fields, 0) as UnstructuredObject;
    const next = { object, stored: stored(object) };
    const found = problems(next.stored);
    const known = found.length === 0 ? [] : problems(before.stored);
    return found.every((problem) => known.includes(problem)) ? next : undefined;
  } catch {
    // Such as by a path of thousands of names.
    return undefined;
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
  /** The keys of an item that the object lacks. */
  readonly keys?: Readonly<Record<string, unknown>>;
}

/** Returns a part with the values of fields, whose first `depth` steps lead to the part. */
function withFields(target: Target, fields: readonly KeptField[], depth: number): unknown {
  const { whole, present, keys = {} } = target;
  const unchanged = fields.filter(
    (field) => sharedOf(field) !== depth || deepEqual(present, field.converted),
  );
  const leaf = unchanged.find(({ path }) => path.length === depth);
  if (leaf !== undefined) return leaf.value;
  const lost = unchanged.find((field) => sharedOf(field) <= depth);
  const empty = isItemStep(lost?.path[depth]) ? [] : keys;
  const container = lost === undefined ? { whole, present } : { whole: empty, present: empty };
  if (Array.isArray(container.whole)) return withItems(container, unchanged, depth);
  return isJsonObject(container.whole) ? withMembers(container, unchanged, depth) : whole;
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
    if (isItemStep(step)) continue;
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
  const next = [...(whole as readonly unknown[])];
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
  const items: unknown[] = next.filter((item) => item !== undefined);
  for (const { at, value } of lost.sort((one, other) => one.at - other.at)) {
    items.splice(at, 0, value);
  }
  return items;
}

function groupedByStep(
  fields: readonly KeptField[],
  depth: number,
): readonly (readonly [step: Step, fields: readonly KeptField[]])[] {
  const stepOf = ({ path }: KeptField): Step => path[depth] ?? '';
  const idOfStep = (step: Step): string => (isItemStep(step) ? JSON.stringify(step.item) : step);
  const groups = grouped(fields, (field) => idOfStep(stepOf(field)));
  return [...groups.values()].map((some) => [some.map(stepOf)[0] ?? '', some] as const);
}

/** Takes the annotations away. Those that users have damaged keep nothing. */
export function withoutKeptFields(object: UnstructuredObject): {
  readonly kept: readonly Annotation[];
  readonly plain: UnstructuredObject;
} {
  const { annotations = {}, ...metadata } = metadataOf(object);
  const others: Record<string, string> = {};
  const kept: Annotation[] = [];
  let isPlain = true;
  for (const [name, text] of Object.entries(annotations)) {
    if (name.startsWith(prefix)) {
      isPlain = false;
      kept.push(...parsed(name, text));
    } else setMember(others, name, text);
  }
  if (isPlain) return { kept, plain: object };
  const rest = Object.keys(others).length > 0 && { annotations: others };
  return { kept, plain: { ...object, metadata: { ...metadata, ...rest } } };
}

function parsed(name: string, text: string): readonly Annotation[] {
  try {
    const field: unknown = JSON.parse(text);
    return isKeptField(field) ? [{ name, text, field }] : [];
  } catch {
    return [];
  }
}

function isKeptField(field: unknown): field is KeptField {
  const members: Readonly<Record<string, unknown>> = isJsonObject(field) ? field : {};
  const { version, path, shared = 1 } = members;
  const steps: readonly unknown[] = Array.isArray(path) ? path : [];
  const [first, ...rest] = steps;
  return (
    typeof version === 'string' &&
    typeof first === 'string' &&
    !fixedFields.includes(first) &&
    rest.every((step) => typeof step === 'string' || isItemStep(step)) &&
    Number.isInteger(shared) &&
    Number(shared) >= 1
  );
}

function annotated(object: UnstructuredObject, added: readonly Annotation[]): UnstructuredObject {
  if (added.length === 0) return object;
  const metadata = metadataOf(object);
  const annotations = { ...metadata.annotations };
  for (const { name, text } of added) annotations[name] = text;
  return { ...object, metadata: { ...metadata, annotations } };
}

function annotationOf(field: KeptField): Annotation {
  const { version, path } = field;
  const steps = [version, ...path.map((step) => (isItemStep(step) ? step.item : step))];
  const names = steps.flatMap((step) => (isJsonObject(step) ? Object.values(step) : [step]));
  // A name with a dot must not look like two names.
  const isPlain = names.every((name) => !String(name).includes('.'));
  const name = labelValueOf(isPlain ? names.join('.') : JSON.stringify(steps));
  return { name: `${prefix}${name}`, text: JSON.stringify(field), field };
}

/** Callers in plain JavaScript may leave the metadata out. */
function metadataOf({ metadata }: { readonly metadata?: ObjectMeta }): ObjectMeta {
  return metadata ?? {};
}
