import has from 'lodash/has.js';
import assign from 'lodash/set.js';
import {
  fieldElement,
  fieldPath,
  parsePathElement,
  pathToString,
  hasKeys,
  valueAtPath,
  FieldSet,
  elementsOf,
  isLeaf,
  isMember,
  leaf,
  formatJsonPointer,
  keyOf,
  isJsonObject,
  memberOf,
  setMember,
  withMember,
  withoutMember,
} from '../object/index.js';
import type {
  FieldPath,
  PathElement,
  FieldNode,
  JsonPatchOperation,
  ManagedFieldsEntry,
  UnstructuredObject,
} from '../object/index.js';
import type { ApplyOptions, Client } from '../client/index.js';
import { fieldDifferences } from './applied-differences.js';
import type { ManagedPart } from './applied-differences.js';
import { asNew, asRead, jsonPatchAsRead, withVersion } from './context.js';
import type { FieldWriting } from './field-writer.js';
import { builtInType } from './kind-traits.js';

/** An object as read, undefined if it does not exist, and its desired state. */
export interface LiveAndDesired {
  readonly live: UnstructuredObject | undefined;
  readonly desired: UnstructuredObject;
}

/** Options of an apply under one field manager. */
export interface ManagedApply extends ApplyOptions {
  readonly fieldManager: string;
  /**
   * The subresource to apply.
   * @defaultValue the object itself
   */
  readonly subresource?: 'status' | undefined;
}

/**
 * Applies `desired` to the object that was read, or creates it. Fields that were applied before and are not
 * desired are removed. If the object was written or created since it was read, the apply is a conflict. This
 * also stops the late write of a former leader.
 * @returns the resulting object
 * @throws ApiError `isStaleWrite`: the object was changed, created, or deleted since it was read
 */
export async function applyAsRead(
  client: Client,
  { live, desired }: LiveAndDesired,
  options: ManagedApply,
): Promise<UnstructuredObject> {
  const ready = live && (await emptyMaps(client, { live, desired }, options));
  const guarded = ready === undefined ? asNew(desired) : withVersion(desired, ready);
  return (await client.apply(guarded, options)).object;
}

/**
 * Empties the {@link emptiedFields} of an object before its apply.
 * @returns the object after the write, or `live` if no field was emptied
 */
export async function emptyMaps(
  client: Client,
  { live, desired }: { readonly live: UnstructuredObject; readonly desired: UnstructuredObject },
  { fieldManager, subresource, signal }: ManagedApply,
): Promise<UnstructuredObject> {
  const part = { manager: fieldManager, subresource: subresource ?? '' } as const;
  const emptied = emptiedFields(live, desired, part);
  if (emptied.length === 0) return live;
  const changes = emptied.map(({ path, from, to }) => ({ path: pathToString(path), from, to }));
  const options = { fieldManager, subresource, signal, details: { changes } };
  const replaced = emptied.map(({ pointer, to }): JsonPatchOperation => {
    return { op: 'replace', path: formatJsonPointer(pointer), value: to };
  });
  // The list indices are valid only for the version that was read.
  return client.patch(desired, keyOf(live), jsonPatchAsRead(live, replaced), options);
}

/** A map or list that becomes empty. */
interface EmptiedField {
  readonly path: FieldPath;
  /** The path in the live object. */
  readonly pointer: readonly string[];
  readonly from: unknown;
  readonly to: unknown;
}

/**
 * Returns the maps and lists of a custom resource that an apply of `desired` would empty, although the field
 * itself stays: it is desired empty, or another manager has set it. The server would leave null in their
 * place (after `d: 3` was removed from `{d: 3}`). The schema refuses null, or the server stores it. For
 * built-in kinds null equals empty.
 */
function emptiedFields(
  live: UnstructuredObject,
  desired: UnstructuredObject,
  part: ManagedPart,
): readonly EmptiedField[] {
  if (builtInType(live) !== undefined) return [];
  const paths = fieldDifferences(live, desired, part).flatMap(({ type, path }) =>
    type === 'dropped' && path[0] !== 'f:metadata' ? [path] : [],
  );
  if (paths.length === 0) return [];
  const [ours, others] = ownersOf(live, part);
  const gone = ours.difference(ours.recursiveDifference(FieldSet.of(...paths)));
  // Keep the parents of the dropped fields. They are desired: a dropped field is the outermost one on its path
  // that the desired object lacks.
  const parents = paths.flatMap((path) => path.slice(0, -1).map((_, at) => path.slice(0, at + 1)));
  const keep = others.union(FieldSet.of(...parents));
  const emptied = new EmptiedFields(desired);
  withoutMembersOf(live, gone.root, (name) => ({
    keep: keep.root[fieldElement(name)],
    ...{ path: [fieldElement(name)], pointer: [name], emptied },
  }));
  return emptied.fields;
}

/** Collects the outermost of the maps and lists that become empty. */
class EmptiedFields {
  readonly fields: EmptiedField[] = [];
  readonly #desired: UnstructuredObject;

  constructor(desired: UnstructuredObject) {
    this.#desired = desired;
  }

  /**
   * Adds a field that becomes empty, unless the apply fills it again.
   * @param inner - the index of the first of `fields` that lies inside `field`: `field` replaces that one and all later
   *   ones
   */
  add(field: EmptiedField, inner: number): void {
    const wanted = valueAtPath(this.#desired, field.path);
    // The apply itself fills this map or list again.
    if (wanted !== undefined && !holdsNothing(wanted)) return;
    this.fields.splice(inner, this.fields.length, field);
  }
}

function ownersOf(
  live: UnstructuredObject,
  { manager, subresource }: ManagedPart,
): readonly [ours: FieldSet, others: FieldSet] {
  const { managedFields = [] } = live.metadata;
  const isOurs = (entry: ManagedFieldsEntry): boolean =>
    entry.manager === manager &&
    entry.operation === 'Apply' &&
    (entry.subresource ?? '') === subresource;
  return [
    fieldsOf(managedFields.filter(isOurs)),
    fieldsOf(managedFields.filter((entry) => !isOurs(entry))),
  ];
}

function fieldsOf(entries: readonly ManagedFieldsEntry[]): FieldSet {
  return entries
    .map(({ fieldsV1 = {} }) => FieldSet.fromFieldsV1(fieldsV1))
    .reduce((all, set) => all.union(set), FieldSet.empty);
}

/** Returns the options of a write of `part`. */
export function callOf({ manager, subresource }: ManagedPart): ManagedApply {
  return { fieldManager: manager, ...(subresource !== '' && { subresource }) };
}

type JsonMap = Readonly<Record<string, unknown>>;

/** Returns the members of `nulls` that also exist in `live`; undefined if there are no such members. */
export function existingMembers(nulls: JsonMap, live: unknown): JsonMap | undefined {
  if (!isJsonObject(live)) return undefined;
  const found: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(nulls)) {
    const there = memberOf(live, name);
    if (there === undefined || there === null) continue;
    const below = isJsonObject(value) ? existingMembers(value, there) : null;
    if (below !== undefined) setMember(found, name, below);
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

/** Removes members of `live` by a merge patch; does nothing without members. */
export async function removeMembers(
  live: UnstructuredObject,
  nulls: JsonMap,
  { client, signal, note, ...part }: ManagedPart & FieldWriting,
): Promise<UnstructuredObject> {
  if (Object.keys(nulls).length === 0) return live;
  const metadata = memberOf(nulls, 'metadata');
  const body = { ...nulls, metadata: { ...(isJsonObject(metadata) && metadata), ...asRead(live) } };
  const patch = { type: 'merge', body } as const;
  const after = await client.patch<UnstructuredObject>(live, keyOf(live), patch, {
    ...callOf(part),
    signal,
  });
  note?.(live, after);
  return after;
}

/** The part of an object whose foreign fields are removed. */
export interface ForeignFieldsOptions {
  /** `''` for the fields of the object itself. */
  readonly subresource: '' | 'status';
  /** Whether the status is an ordinary field of the object. @defaultValue false */
  readonly status?: boolean;
}

/**
 * Returns `live` without the fields that were set by updates and that no manager has applied. Applied fields
 * stay, because their managers would restore them. Fields set through a subresource (replicas by an
 * autoscaler), and those that the cluster sets in a claim or a volume, stay too.
 * @returns `live` itself if there are no such fields
 */
export function withoutForeignFields(
  live: UnstructuredObject,
  { subresource, status = false }: ForeignFieldsOptions,
): UnstructuredObject {
  const entries = (live.metadata.managedFields ?? []).filter(
    (entry) => (entry.subresource ?? '') === subresource,
  );
  const applied = fieldsOf(entries.filter(({ operation }) => operation === 'Apply'));
  const updated = fieldsOf(entries.filter(({ operation }) => operation === 'Update'));
  const isStatus = status || subresource === 'status';
  const foreign = updated.recursiveDifference(boundFields[live.kind] ?? FieldSet.empty);
  return withoutMembersOf(live, foreign.root, (name) => {
    const isPart = name === 'status' ? isStatus : subresource === '' && !notContent.has(name);
    return isPart ? { keep: applied.root[fieldElement(name)] } : undefined;
  });
}

/**
 * Adds the fields that the cluster or an autoscaler has set on `live` to `desired`, where `desired` lacks them.
 * These are the fields that bind a claim or a volume, and `spec.replicas`. Replicas are added only if they were set
 * by default or through the subresource `scale`: then the server lists no other manager of them.
 */
export function withSettledFields(
  desired: UnstructuredObject,
  live: UnstructuredObject,
): UnstructuredObject {
  const entries = live.metadata.managedFields ?? [];
  const set = fieldsOf(entries.filter(({ subresource }) => subresource !== 'scale'));
  const bound = boundFields[live.kind] ?? FieldSet.empty;
  const settled = set.has(replicasPath) ? bound : bound.with(replicasPath);
  const next = structuredClone(desired);
  for (const path of settled.leaves().paths()) {
    const value = valueAtPath(live, path);
    const names = path.map((element) => element.slice('f:'.length));
    if (value !== undefined && !has(next, names)) assign(next, names, value);
  }
  return next;
}

const replicasPath = fieldPath('spec', 'replicas');

const notContent = new Set(['apiVersion', 'kind', 'metadata']);

// The cluster sets these fields by an update of the whole object when it binds a claim to a volume.
const boundFields: Readonly<Partial<Record<string, FieldSet>>> = {
  PersistentVolumeClaim: FieldSet.of(['f:spec', 'f:volumeName']),
  PersistentVolume: FieldSet.of(['f:spec', 'f:claimRef']),
};

/** Returns `object` without the fields at `paths`. */
export function withoutPaths(
  object: UnstructuredObject,
  paths: readonly FieldPath[],
): UnstructuredObject {
  return withoutMembersOf(object, FieldSet.of(...paths).root, () => ({ keep: undefined }));
}

/** Returns `live` without the fields of `remove`. Keeps each member for which `limits` returns undefined as it is. */
function withoutMembersOf(
  live: UnstructuredObject,
  remove: FieldNode,
  limits: (name: string) => Omit<Removal, 'remove'> | undefined,
): UnstructuredObject {
  let result = live;
  for (const element of elementsOf(remove)) {
    const name = element.slice('f:'.length);
    const value = memberOf(live, name);
    const limit = value === undefined ? undefined : limits(name);
    if (limit === undefined) continue;
    const left = withoutFields(value, { remove: remove[element] ?? leaf, ...limit });
    if (left === value) continue;
    result = left === undefined ? withoutMember(result, name) : withMember(result, name, left);
  }
  return result;
}

/** The fields to remove and the fields to keep, at one place of an object. */
interface Removal {
  readonly remove: FieldNode;
  /** undefined: keep no fields. */
  readonly keep: FieldNode | undefined;
  readonly path?: FieldPath;
  readonly pointer?: readonly string[];
  /** Collects the maps and lists that become empty but are kept. */
  readonly emptied?: EmptiedFields;
}

/**
 * Returns `value` without the fields of `remove`, except those of `keep`. Returns `value` itself if nothing
 * is removed, and undefined if nothing is left or kept.
 */
function withoutFields(value: unknown, removal: Removal): unknown {
  const { remove, keep } = removal;
  if (keep === undefined && isMember(remove)) return undefined;
  // The fields to remove and those to keep both include the whole value.
  if (isLeaf(remove)) return value;
  const inner = removal.emptied?.fields.length ?? 0;
  let left = value;
  if (Array.isArray(value)) left = withoutItems(value, removal);
  else if (isJsonObject(value)) left = withoutMembers(value, removal);
  if (left === value || !holdsNothing(left)) return left;
  if (keep === undefined) return isEmpty(left) ? undefined : left;
  const { path = [], pointer = [], emptied } = removal;
  emptied?.add({ path, pointer, from: value, to: left }, inner);
  return left;
}

function withoutMembers(value: Readonly<Record<string, unknown>>, removal: Removal): unknown {
  let result = value;
  for (const element of elementsOf(removal.remove)) {
    const name = element.slice('f:'.length);
    const member = memberOf(value, name);
    if (member === undefined) continue;
    const left = withoutFields(member, below(removal, element, name));
    if (left === undefined) result = withoutMember(result, name);
    else if (left !== member) result = withMember(result, name, left);
  }
  return result;
}

function withoutItems(list: readonly unknown[], removal: Removal): unknown {
  let result = list;
  for (const element of elementsOf(removal.remove)) {
    const item = result.find((each) => isItem(each, element));
    if (item === undefined) continue;
    const left = withoutFields(item, below(removal, element, String(list.indexOf(item))));
    if (left === item) continue;
    result = result.flatMap((each) => (each !== item ? [each] : left === undefined ? [] : [left]));
  }
  return result;
}

function below(
  { remove, keep, path = [], pointer = [], ...rest }: Removal,
  element: PathElement,
  token: string,
): Removal {
  return {
    ...{ remove: remove[element] ?? leaf, keep: keep?.[element] },
    ...{ path: [...path, element], pointer: [...pointer, token], ...rest },
  };
}

function isItem(item: unknown, element: PathElement): boolean {
  const parsed = parsePathElement(element);
  if (parsed.type === 'key') return hasKeys(item, parsed.keys, true);
  return parsed.type === 'value' && parsed.value === item;
}

// The server drops an empty list that is not atomic, and the map around it.
function holdsNothing(value: unknown): boolean {
  return isEmpty(value) || (isJsonObject(value) && Object.values(value).every(isEmptyList));
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isEmpty(value: unknown): boolean {
  return isEmptyList(value) || (isJsonObject(value) && Object.keys(value).length === 0);
}
