import groupBy from 'lodash/groupBy.js';
import {
  deepEqual,
  isJsonObject,
  labelValueOf,
  memberOf,
  withMember,
  withoutMember,
} from '../../object/index.js';
import type { ObjectMeta, UnstructuredObject } from '../../object/index.js';

/** The prefix of the annotations of a converted object with the fields that its version cannot express. */
const prefix = 'kept-fields.operator-builder.io/';

/**
 * A field that a conversion and the way back lose, change or add. Each one has an annotation of its own:
 * server-side apply computes by path what its caller no longer wants, even for managers that wrote the object in
 * other versions.
 */
interface KeptField {
  /** The version that has the field. */
  readonly version: string;
  readonly path: readonly string[];
  /**
   * The number of names of `path` that lead to `converted`, if it is not all of them: the other version lacks
   * the parent of the field, too.
   */
  readonly shared?: number;
  /** The value before; undefined if the conversion adds the field. */
  readonly value?: unknown;
  /** The value after the conversion and back; undefined if it is lost. */
  readonly converted?: unknown;
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
  /** Returns the reasons for which the API server would reject an object. */
  readonly problems: (object: UnstructuredObject) => readonly string[];
}

/**
 * Converts an object so that no field is lost when a client writes the converted object: fields that do not
 * survive the way back are kept in annotations. The way back sets each of them again, unless the converted
 * object has been changed there. A list is kept as a whole, since its items may have moved.
 */
export function convertKeeping(object: UnstructuredObject, step: KeepingStep): UnstructuredObject {
  const { from, to } = step;
  const { kept, plain } = withoutKeptFields(object);
  const own = kept.filter(({ version }) => version === to);
  const converted = restored(step.convert(plain), own, step);
  const others = kept.filter(({ version }) => version !== to && version !== from);
  return annotated(converted, [...others, ...lostFields(plain, converted, step)]);
}

/** Returns the fields that differ after the way back; none if that fails, which must not fail this conversion. */
function lostFields(
  object: UnstructuredObject,
  converted: UnstructuredObject,
  { from, convertBack, stored }: KeepingStep,
): readonly KeptField[] {
  try {
    const after = convertBack(stored(converted));
    // Return early: usually nothing is lost, and the rest would take most of the time.
    if (deepEqual(object, after)) return [];
    const before = stored(object);
    return differences(from, [], before, { ...stored(after), metadata: before.metadata });
  } catch {
    return [];
  }
}

function differences(
  version: string,
  path: readonly string[],
  value: unknown,
  converted: unknown,
): readonly KeptField[] {
  if (deepEqual(value, converted)) return [];
  if (!isJsonObject(value) || !isJsonObject(converted)) {
    return leavesOf(path, value).map((leaf) => ({
      ...{ version, ...leaf, converted },
      ...(leaf.path.length > path.length && { shared: path.length }),
    }));
  }
  const names = new Set([...Object.keys(value), ...Object.keys(converted)]);
  return [...names].flatMap((name) =>
    differences(version, [...path, name], memberOf(value, name), memberOf(converted, name)),
  );
}

function leavesOf(
  path: readonly string[],
  value: unknown,
): readonly Pick<KeptField, 'path' | 'value'>[] {
  const members = isJsonObject(value) ? Object.entries(value) : [];
  if (members.length === 0) return [{ path, value }];
  return members.flatMap(([name, member]) => leavesOf([...path, name], member));
}

/**
 * Sets the kept fields again, except where a client has changed what the conversion made of them, and those that the
 * schema refuses: an API server validates a write only in the version of its client, who may change the annotations.
 */
function restored(
  converted: UnstructuredObject,
  fields: readonly KeptField[],
  { stored, problems }: KeepingStep,
): UnstructuredObject {
  if (fields.length === 0) return converted;
  const present = stored(converted);
  const unchanged = fields.filter((field) =>
    deepEqual(valueAt(present, sharedPath(field)), field.converted),
  );
  const whole = unchanged.reduce(withField, converted);
  if (problems(whole).length === 0) return whole;
  const groups = Object.values(groupBy(unchanged, (field) => JSON.stringify(sharedPath(field))));
  return groups.reduce((object, group) => {
    const next = group.reduce(withField, object);
    const known = problems(object);
    return problems(next).every((problem) => known.includes(problem)) ? next : object;
  }, converted);
}

function sharedPath({ path, shared }: KeptField): readonly string[] {
  return path.slice(0, shared);
}

function valueAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isJsonObject(value) ? memberOf(value, name) : undefined),
    object,
  );
}

function withField(object: UnstructuredObject, field: KeptField): UnstructuredObject {
  const { path, value } = field;
  return withValueAt(object, { path, value, parents: sharedPath(field).length - 1 });
}

/**
 * Returns a copy with another value at a path. Returns the object as it is if one of the first `parents` of the path is
 * gone.
 */
function withValueAt<T extends Readonly<Record<string, unknown>>>(
  object: T,
  { path, value, parents }: Pick<KeptField, 'path' | 'value'> & { readonly parents: number },
): T {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    return value === undefined ? withoutMember(object, name) : withMember(object, name, value);
  }
  const member = memberOf(object, name);
  const isThere = isJsonObject(member);
  if (!isThere && parents > 0) return object;
  const inner = { path: rest, value, parents: parents - 1 };
  return withMember(object, name, withValueAt(isThere ? member : {}, inner));
}

/** Takes the annotations away. Those that users have damaged keep nothing. */
export function withoutKeptFields(object: UnstructuredObject): {
  readonly kept: readonly KeptField[];
  readonly plain: UnstructuredObject;
} {
  const { annotations = {}, ...metadata } = metadataOf(object);
  const entries = Object.entries(annotations);
  const others = entries.filter(([name]) => !name.startsWith(prefix));
  if (others.length === entries.length) return { kept: [], plain: object };
  const rest = others.length > 0 && { annotations: Object.fromEntries(others) };
  return {
    kept: entries.flatMap(([name, text]) => (name.startsWith(prefix) ? parsed(text) : [])),
    plain: { ...object, metadata: { ...metadata, ...rest } },
  };
}

function parsed(text: string): readonly KeptField[] {
  try {
    const field: unknown = JSON.parse(text);
    return isKeptField(field) ? [field] : [];
  } catch {
    return [];
  }
}

/** An API server refuses a conversion that changes the names of the type or the metadata, and with it each list. */
const fixedFields: readonly unknown[] = ['apiVersion', 'kind', 'metadata'];

function isKeptField(field: unknown): field is KeptField {
  const members: Readonly<Record<string, unknown>> = isJsonObject(field) ? field : {};
  const { version, path, shared = 1 } = members;
  const names: readonly unknown[] = Array.isArray(path) ? path : [];
  return (
    typeof version === 'string' &&
    names.length > 0 &&
    names.every((name) => typeof name === 'string') &&
    !fixedFields.includes(names[0]) &&
    Number.isInteger(shared) &&
    Number(shared) >= 1
  );
}

function annotated(object: UnstructuredObject, fields: readonly KeptField[]): UnstructuredObject {
  if (fields.length === 0) return object;
  const metadata = metadataOf(object);
  const kept = fields.map((field) => [annotationOf(field), JSON.stringify(field)] as const);
  const annotations = { ...metadata.annotations, ...Object.fromEntries(kept) };
  return { ...object, metadata: { ...metadata, annotations } };
}

function annotationOf({ version, path }: KeptField): string {
  const names = [version, ...path];
  // A name with a dot must not look like two names.
  const isPlain = names.every((name) => !name.includes('.'));
  return `${prefix}${labelValueOf(isPlain ? names.join('.') : JSON.stringify(names))}`;
}

/** Callers in plain JavaScript may leave the metadata out. */
function metadataOf({ metadata }: { readonly metadata?: ObjectMeta }): ObjectMeta {
  return metadata ?? {};
}
