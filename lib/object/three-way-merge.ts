import { memberSchemaOf, patchStrategiesOf } from './schema.js';
import { deepEqual, isSameList } from './deep-equal.js';
import { fieldElement, indexElement, keyElement, valueElement } from './field-path.js';
import type { FieldPath, PathElement } from './field-path.js';
import { isJsonObject, memberOf, setMember } from './json.js';
import type { FieldsV1 } from './kubernetes-object.js';
import { isSameAmount } from './quantity.js';
import type { Schema } from './schema.js';

type JsonMap = Readonly<Record<string, unknown>>;

/** The inputs of {@link threeWayMerge}. */
export interface ThreeWayMerge<T extends object = object> {
  /** The paths that were set last time, in the format of `setFieldsOf`; `{}` if no field was set. */
  readonly applied: FieldsV1;
  /** The values to set. */
  readonly desired: object;
  readonly current: T;
  /** The schema of the objects. @defaultValue undefined: lists are replaced whole */
  readonly schema: Schema | undefined;
  /**
   * Whether entries that others added to the list at `path` are removed. @defaultValue they stay, if entries
   * can be identified
   */
  readonly isWhole?: ((path: FieldPath) => boolean) | undefined;
}

interface Merging {
  readonly applied: FieldsV1 | undefined;
  readonly schema: Schema | undefined;
  readonly path: FieldPath;
  readonly isWhole: (path: FieldPath) => boolean;
  /** True for an entry of a list with `retainKeys`: if it changes, its members that are not desired are removed. */
  readonly retainsKeys?: boolean;
}

/**
 * Merges `desired` into `current`, and removes fields that were set last time and are no longer desired. Other fields
 * stay: defaults, and fields of other managers. Equal quantities do not differ, nor do empty and absent values. List
 * entries are matched by `listIdentity`. Entries without an identity are matched by their index, if both lists have the
 * same length.
 * @returns `current` itself if nothing changes; else a new object that shares unchanged parts.
 */
export function threeWayMerge<T extends object>(merge: ThreeWayMerge<T>): T {
  const { applied, desired, current, schema, isWhole = () => false } = merge;
  return merged(desired, current, { applied, schema, path: [], isWhole }) as T;
}

function merged(desired: unknown, current: unknown, merging: Merging): unknown {
  if (!isSet(current)) return isStoredAsNone(desired, merging.schema) ? current : desired;
  if (isSame(desired, current, merging.schema)) return current;
  if (isWholeMap(merging.schema)) {
    // Drops undefined members.
    const whole: unknown = JSON.parse(JSON.stringify(desired));
    return deepEqual(whole, current) ? current : whole;
  }
  if (isJsonObject(desired) && isJsonObject(current)) return mergedMap(desired, current, merging);
  if (Array.isArray(desired) && Array.isArray(current)) {
    return mergedList(desired, current, merging);
  }
  return desired;
}

function mergedMap(desired: JsonMap, current: JsonMap, merging: Merging): JsonMap {
  const wanted = Object.keys(desired).filter((name) => isSet(desired[name]));
  const changes = new Map<string, unknown>();
  for (const name of wanted) {
    const value = memberOf(current, name);
    if (!isSet(value) && isUnstoredZero(desired[name], name, merging.schema)) continue;
    const next = merged(desired[name], value, memberOfMerging(merging, name));
    if (next !== value) changes.set(name, next);
  }
  const excluded = excludedMembers(desired, merging.schema);
  // With the strategy `retainKeys`, fields that are not desired are removed. The server would refuse fields of two
  // members of a union.
  const keepsOwn = changes.size > 0 && retainsKeys(merging);
  for (const name of Object.keys(current)) {
    if (isSet(memberOf(desired, name))) continue;
    const goes = keepsOwn || excluded.includes(name);
    if (goes || isApplied(merging.applied, fieldElement(name))) changes.set(name, undefined);
  }
  return changes.size === 0 ? current : withChanges(current, changes);
}

function retainsKeys({ schema, retainsKeys: ofList = false }: Merging): boolean {
  // A list's strategy applies to its entries.
  return (
    ofList || (schema?.items === undefined && patchStrategiesOf(schema).includes('retainKeys'))
  );
}

function memberOfMerging(merging: Merging, name: string): Merging {
  return below(merging, fieldElement(name), memberSchemaOf(merging.schema ?? {}, name));
}

function below(
  { applied, path, isWhole }: Merging,
  element: PathElement,
  schema: Schema | undefined,
): Merging {
  const own = isApplied(applied, element) ? applied[element] : undefined;
  return { applied: own, schema, path: [...path, element], isWhole };
}

function withChanges(current: JsonMap, changes: ReadonlyMap<string, unknown>): JsonMap {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(current)) {
    const next = changes.has(name) ? changes.get(name) : value;
    if (next !== undefined) setMember(result, name, next);
  }
  for (const [name, value] of changes) {
    if (value !== undefined && !Object.hasOwn(result, name)) setMember(result, name, value);
  }
  return result;
}

function mergedList(
  desired: readonly unknown[],
  current: readonly unknown[],
  merging: Merging,
): readonly unknown[] {
  const wanted = entriesByIdentity(desired, merging.schema);
  const existing = entriesByIdentity(current, merging.schema);
  if (wanted === undefined || existing === undefined) {
    return mergedByPlace(desired, current, merging);
  }
  const keeps = (element: PathElement): boolean =>
    !merging.isWhole(merging.path) && !isApplied(merging.applied, element);
  const others = [...existing].filter(([element]) => !wanted.has(element) && keeps(element));
  const ours = new Map(
    [...wanted].map(([element, item]) => {
      const next = merged(item, existing.get(element), itemOfMerging(merging, element));
      return [element, next ?? item];
    }),
  );
  const result = inOrder({ existing, ours, others: new Map(others) });
  return isSameList(result, current) ? current : result;
}

interface OrderedEntries {
  readonly existing: ReadonlyMap<PathElement, unknown>;
  readonly ours: ReadonlyMap<PathElement, unknown>;
  readonly others: ReadonlyMap<PathElement, unknown>;
}

/** Returns the desired entries in their order, and each other entry after the entry that it followed before. */
function inOrder({ existing, ours, others }: OrderedEntries): readonly unknown[] {
  const followers = new Map<PathElement | undefined, unknown[]>();
  let last: PathElement | undefined;
  for (const element of existing.keys()) {
    if (ours.has(element)) last = element;
    if (!others.has(element)) continue;
    followers.set(last, [...(followers.get(last) ?? []), others.get(element)]);
  }
  const behind = (element?: PathElement): unknown[] => followers.get(element) ?? [];
  return [...behind(), ...[...ours].flatMap(([element, item]) => [item, ...behind(element)])];
}

// Merges entries by their index if both lists have the same length. Otherwise `desired` replaces the list. Replacing
// lists of the same length would always differ by the defaults that the server adds to the entries.
function mergedByPlace(
  desired: readonly unknown[],
  current: readonly unknown[],
  merging: Merging,
): readonly unknown[] {
  if (desired.length !== current.length) return desired;
  const result = desired.map((item, place) => {
    const next = merged(item, current[place], itemOfMerging(merging, indexElement(place)));
    return next ?? item;
  });
  return isSameList(result, current) ? current : result;
}

function itemOfMerging(merging: Merging, element: PathElement): Merging {
  const retainsKeys = patchStrategiesOf(merging.schema).includes('retainKeys');
  return { ...below(merging, element, merging.schema?.items), retainsKeys };
}

function isApplied(applied: FieldsV1 | undefined, element: PathElement): applied is FieldsV1 {
  return applied !== undefined && Object.hasOwn(applied, element);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/**
 * Whether the server does not store an empty value. Built-in kinds omit empty lists and maps: `env: []`,
 * `labels: {}`. They store empty structs, which have a meaning: `emptyDir: {}`, `namespaceSelector: {}`.
 * Without a schema, every empty value is assumed to be stored: `selfSigned: {}`.
 */
function isStoredAsNone(value: unknown, schema: Schema | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0 && schema?.items !== undefined;
  const isMap = schema?.additionalProperties !== undefined;
  return isMap && isJsonObject(value) && Object.keys(value).length === 0;
}

function isSame(desired: unknown, current: unknown, schema: Schema | undefined): boolean {
  if (deepEqual(desired, current)) return true;
  return isQuantity(schema) && isSameAmount(desired, current);
}

function isQuantity(schema: Schema | undefined): boolean {
  return schema?.type === 'string' && schema['x-kubernetes-int-or-string'] === true;
}

/**
 * Returns the paths that `value` sets, in the format of `managedFields`; null sets no path. List entries are
 * identified by their keys if the schema has some, else by their index. An atomic map has no paths below it.
 */
export function setFieldsOf(value: unknown, schema: Schema | undefined): FieldsV1 {
  if (Array.isArray(value)) return fieldsOfList(value, schema);
  if (!isJsonObject(value) || isWholeMap(schema)) return {};
  const members = Object.entries(value).filter(([, member]) => isSet(member));
  return Object.fromEntries(
    members.map(([name, member]) => [
      fieldElement(name),
      setFieldsOf(member, memberSchemaOf(schema ?? {}, name)),
    ]),
  );
}

/**
 * Whether a map is one value: it is atomic, and not a struct of scalars. The server adds defaults to such
 * structs, for example a reference to a field of a Pod, so their members are separate values.
 */
function isWholeMap(schema: Schema | undefined): boolean {
  if (schema?.['x-kubernetes-map-type'] !== 'atomic') return false;
  const { properties } = schema;
  if (properties === undefined) return true;
  return Object.values(properties).some(({ type }) => type === 'object' || type === 'array');
}

function fieldsOfList(list: readonly unknown[], schema: Schema | undefined): FieldsV1 {
  const entries = entriesByIdentity(list, schema);
  const named = entries ?? new Map(list.map((item, place) => [indexElement(place), item]));
  return Object.fromEntries(
    [...named].map(([element, item]) => [element, setFieldsOf(item, schema?.items)]),
  );
}

type ListIdentity =
  /** The values of these fields identify an entry. */
  | { readonly type: 'keys'; readonly keys: readonly string[] }
  /** The value itself identifies an entry: a set of scalars. */
  | { readonly type: 'values' }
  /** Entries have no other identity than their index. */
  | { readonly type: 'places' };

/**
 * Returns the identity of the entries of a list with `schema`: the keys of server-side apply, else the merge key of a
 * strategic merge. The keys of server-side apply are more precise: they distinguish two ports with one number by their
 * protocol.
 */
function listIdentity(schema: Schema | undefined): ListIdentity {
  const type = schema?.['x-kubernetes-list-type'];
  const keys = schema?.['x-kubernetes-list-map-keys'];
  if (type === 'map' && keys !== undefined) return { type: 'keys', keys };
  if (type === 'set') return { type: 'values' };
  if (type === 'atomic' || !patchStrategiesOf(schema).includes('merge')) return { type: 'places' };
  const key = schema?.['x-kubernetes-patch-merge-key'];
  return key === undefined ? { type: 'values' } : { type: 'keys', keys: [key] };
}

/**
 * Returns the entries of `list` by their identity; undefined if they cannot be identified: two entries have the same
 * identity, or an entry lacks a key.
 */
function entriesByIdentity(
  list: readonly unknown[],
  schema: Schema | undefined,
): ReadonlyMap<PathElement, unknown> | undefined {
  const identity = listIdentity(schema);
  if (identity.type === 'places') return undefined;
  const entries = new Map<PathElement, unknown>();
  for (const item of list) {
    const element =
      identity.type === 'keys'
        ? keyElementOf(item, identity.keys, schema?.items)
        : valueElement(item);
    if (element === undefined || entries.has(element)) return undefined;
    entries.set(element, item);
  }
  return entries;
}

function keyElementOf(
  item: unknown,
  keys: readonly string[],
  schema: Schema | undefined,
): PathElement | undefined {
  if (!isJsonObject(item)) return undefined;
  const values: Record<string, unknown> = {};
  for (const key of keys) {
    const value = memberOf(item, key) ?? schema?.properties?.[key]?.default;
    if (value === undefined) return undefined;
    values[key] = value;
  }
  return keyElement(values);
}

// The server accepts only one member of each of these lists. The schemas of built-in kinds do not express this.
const unions: readonly (readonly string[])[] = [
  // EnvVar, EnvVarSource
  ['value', 'valueFrom'],
  ['configMapKeyRef', 'fieldRef', 'resourceFieldRef', 'secretKeyRef'],
  // Probe, LifecycleHandler
  ['exec', 'grpc', 'httpGet', 'tcpSocket'],
  ['exec', 'httpGet', 'sleep', 'tcpSocket'],
];

/**
 * Returns the members that conflict with those that `desired` sets, for example `valueFrom` with `value` of
 * an environment variable; for the unions in Pods.
 */
function excludedMembers(desired: object, schema: Schema | undefined): readonly string[] {
  const { properties } = schema ?? {};
  if (properties === undefined || !isJsonObject(desired)) return [];
  const isDesired = (name: string): boolean => isSet(desired[name]);
  return unions
    .filter((union) => union.every((name) => Object.hasOwn(properties, name)))
    .filter((union) => union.some(isDesired))
    .flatMap((union) => union.filter((name) => !isDesired(name)));
}

// Members of built-in kinds for which a zero equals an absent value on the server. For other members, a zero has a
// meaning: without `automountServiceAccountToken: false`, there is a token.
const unstored: ReadonlySet<string> = new Set([
  ...['value', 'subPath', 'workingDir', 'readOnly', 'stdin', 'stdinOnce', 'tty'],
  ...['hostNetwork', 'hostPID', 'hostIPC', 'paused', 'publishNotReadyAddresses'],
  ...['minReadySeconds', 'initialDelaySeconds', 'hostPort', 'nodePort'],
]);

/**
 * Whether a built-in kind does not store `value` as its member `name`, for example `readOnly: false`.
 * @param schema - the schema of the object with the member.
 */
function isUnstoredZero(value: unknown, name: string, schema: Schema | undefined): boolean {
  const isZero = value === '' || value === false || value === 0;
  if (!isZero || !unstored.has(name)) return false;
  const { properties } = schema ?? {};
  return properties !== undefined && Object.hasOwn(properties, name);
}
