import { refuseUnknownOptions } from '../system/index.js';
import { deepEqual } from './deep-equal.js';
import { isJsonObject, memberOf } from './json.js';
import type { UnstructuredObject } from './kubernetes-object.js';
import { memberSchemaOf } from './schema.js';
import type { Schema } from './schema.js';

/** One field that differs. */
export interface FieldChange {
  /**
   * The path for people: `spec.template.spec.containers[name=web].image`, `data["app.conf"]`, `args[0]`;
   * empty for the whole value.
   */
  readonly path: string;
  /** The value before; undefined if the field was absent. */
  readonly from: unknown;
  /** The value after; undefined if the field was removed. */
  readonly to: unknown;
  /** The field manager that made the change, if known. */
  readonly manager?: string | undefined;
}

/** Options of {@link diffObjects}. */
export interface DiffOptions {
  /** Paths to ignore, with everything below them. @defaultValue none */
  readonly ignore?: readonly string[];
  /**
   * The schema of the objects. Entries of a list with `x-kubernetes-list-type: map` are identified by all of its
   * `x-kubernetes-list-map-keys`: `hosts[ip=10.0.0.1,port=80].weight`. @defaultValue none
   */
  readonly schema?: Schema | undefined;
}

/** The metadata fields that the API server sets by itself, which changes of users never include. */
export const serverSetFields: readonly string[] = [
  'metadata.creationTimestamp',
  'metadata.deletionGracePeriodSeconds',
  'metadata.deletionTimestamp',
  'metadata.generation',
  'metadata.managedFields',
  'metadata.resourceVersion',
  'metadata.selfLink',
  'metadata.uid',
];

/**
 * Returns the fields in which two objects differ: first in the order of `from`, then the new ones in `to`.
 * The result is empty if and only if they are equal; undefined and absent are the same. A field that exists
 * in only one of them is one change with its whole value.
 *
 * List entries are identified by the keys in the schema, if every entry has them. Otherwise, the first of these fields
 * counts that every entry has with a different value: `name`, `type`, `key`, `mountPath`, `containerPort`, `port`,
 * `uid`. Without such a field, the index identifies an entry. A change of the order alone has the path `list[order]`
 * and the keys as values.
 */
export function diffObjects(from: unknown, to: unknown, options: DiffOptions = {}): FieldChange[] {
  const { ignore = [], schema } = options;
  refuseUnknownOptions<DiffOptions>('diffObjects', options, { ignore, schema });
  const ignored = new Set(ignore);
  const changes: FieldChange[] = [];
  compare({ changes, ignored }, { path: '', schema }, [from, to]);
  return changes;
}

/** Splits the change of a new value into one change per field. */
export function fieldsOf(change: FieldChange): readonly FieldChange[] {
  const { path, to } = change;
  const isList = Array.isArray(to);
  if ((!isList && !isJsonObject(to)) || Object.keys(to).length === 0) return [change];
  const key = isList ? listKeys.find((name) => areKeysOf([name], to)) : undefined;
  return Object.entries(to).flatMap(([name, value]) => {
    const known = key !== undefined && isJsonObject(value) ? memberOf(value, key) : undefined;
    const named = key === undefined ? name : `${key}=${String(known)}`;
    const at = isList ? `${path}[${named}]` : memberPath(path, name);
    return fieldsOf({ ...change, path: at, to: value });
  });
}

interface Comparison {
  readonly changes: FieldChange[];
  readonly ignored: ReadonlySet<string>;
}

type Pair<T = unknown> = readonly [from: T, to: T];

/** The path of two compared values, and their schema if known. */
interface Place {
  readonly path: string;
  readonly schema: Schema | undefined;
}

function compare(into: Comparison, place: Place, [from, to]: Pair): void {
  const { path } = place;
  if (from === to || into.ignored.has(path)) return;
  if (isJsonObject(from) && isJsonObject(to)) compareMembers(into, place, [from, to]);
  else if (Array.isArray(from) && Array.isArray(to)) compareLists(into, place, [from, to]);
  else if (!deepEqual(from, to)) into.changes.push({ path, from, to });
}

function compareMembers(
  into: Comparison,
  place: Place,
  [from, to]: Pair<Readonly<Record<string, unknown>>>,
): void {
  for (const name of Object.keys(from)) compareMember(into, place, name, [from, to]);
  for (const name of Object.keys(to)) {
    if (!Object.hasOwn(from, name)) compareMember(into, place, name, [from, to]);
  }
}

function compareMember(
  into: Comparison,
  { path, schema }: Place,
  name: string,
  [from, to]: Pair<Readonly<Record<string, unknown>>>,
): void {
  const pair = [memberOf(from, name), memberOf(to, name)] as const;
  // Most fields are the same, and need no path.
  if (pair[0] === pair[1]) return;
  const own = schema && memberSchemaOf(schema, name);
  compare(into, { path: memberPath(path, name), schema: own }, pair);
}

function compareLists(
  into: Comparison,
  { path, schema }: Place,
  [from, to]: Pair<readonly unknown[]>,
): void {
  const items = schema?.items;
  const candidates = [...declaredKeys(schema), ...listKeys.map((name) => [name])];
  const keys = candidates.find((names) => areKeysOf(names, from) && areKeysOf(names, to));
  if (keys === undefined) {
    for (let index = 0; index < Math.max(from.length, to.length); index++) {
      compare(into, { path: `${path}[${index}]`, schema: items }, [from[index], to[index]]);
    }
    return;
  }
  const [before, after] = [byKeys(keys, from), byKeys(keys, to)];
  for (const value of new Set([...before.keys(), ...after.keys()])) {
    const named = keys.length === 1 ? `${keys[0] ?? ''}=${value}` : value;
    const pair = [before.get(value), after.get(value)] as const;
    compare(into, { path: `${path}[${named}]`, schema: items }, pair);
  }
  const kept = [...before.keys()].filter((value) => after.has(value));
  const now = [...after.keys()].filter((value) => before.has(value));
  if (!deepEqual(kept, now)) into.changes.push({ path: `${path}[order]`, from: kept, to: now });
}

const listKeys = ['name', 'type', 'key', 'mountPath', 'containerPort', 'port', 'uid'];

function declaredKeys(schema: Schema | undefined): readonly (readonly string[])[] {
  const keys = schema?.['x-kubernetes-list-map-keys'] ?? [];
  return schema?.['x-kubernetes-list-type'] === 'map' && keys.length > 0 ? [keys] : [];
}

/** Whether each entry has unique values in `keys`. */
function areKeysOf(keys: readonly string[], list: readonly unknown[]): boolean {
  return byKeys(keys, list).size === list.length;
}

/** Returns the entries by the value of a single key, or by the names and values of several keys. */
function byKeys(keys: readonly string[], list: readonly unknown[]): Map<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const item of list) {
    const values = keys.map((key) => (isJsonObject(item) ? memberOf(item, key) : undefined));
    if (!values.every((value) => typeof value === 'string' || typeof value === 'number')) continue;
    const named = keys.map((key, index) => `${key}=${values[index] ?? ''}`);
    entries.set(keys.length === 1 ? String(values[0]) : named.join(), item);
  }
  return entries;
}

function memberPath(path: string, name: string): string {
  if (!/^[A-Za-z_][\w-]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

/** The replacement of a value that must not be shown. */
export const redacted = '(redacted)';

/**
 * Redacts changes of an object of `kind` for logs, records and output. For a Secret, {@link redacted}
 * replaces every value that may contain its data, for example the last-applied annotation. Paths stay, and so
 * does whether a value was added or removed.
 */
export function redactChanges(
  kind: string,
  changes: readonly FieldChange[],
): readonly FieldChange[] {
  if (kind !== 'Secret') return changes;
  return changes.map((change) =>
    isShowable(change.path)
      ? change
      : { ...change, from: hidden(change.from), to: hidden(change.to) },
  );
}

/**
 * Redacts an object for output. In a Secret, {@link redacted} replaces the values of data and annotations.
 * For a value that differs from `before`, the replacement adds "changed".
 */
export function redactObject(
  object: UnstructuredObject,
  before?: UnstructuredObject,
): UnstructuredObject {
  if (object.kind !== 'Secret') return object;
  const { annotations, ...metadata } = object.metadata;
  const hiddenNotes = annotations && hiddenMap(annotations, before?.metadata.annotations);
  const data = ['data', 'stringData'].flatMap((name) => {
    const values = object[name];
    return isJsonObject(values) ? [[name, hiddenMap(values, before?.[name])] as const] : [];
  });
  return {
    ...object,
    metadata: { ...metadata, ...(hiddenNotes !== undefined && { annotations: hiddenNotes }) },
    ...Object.fromEntries(data),
  };
}

function hiddenMap(values: object, before: unknown): Record<string, string> {
  const old = isJsonObject(before) ? before : {};
  const entries = Object.entries(values).map(([name, value]) => {
    const isChanged = old[name] !== undefined && old[name] !== value;
    return [name, isChanged ? '(redacted, changed)' : redacted] as const;
  });
  return Object.fromEntries(entries);
}

// A list of allowed paths, so that an unforeseen path stays hidden.
function isShowable(path: string): boolean {
  return /^(type|immutable|metadata\.(name|namespace|uid|labels|finalizers|ownerReferences))\b/.test(
    path,
  );
}

function hidden(value: unknown): unknown {
  return value === undefined ? undefined : redacted;
}
