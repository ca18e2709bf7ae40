import {
  deepEqual,
  fieldPath,
  pathToServerString,
  FieldSet,
  FieldNodeBuilder,
  elementsOf,
  isLeaf,
  isMember,
  leaf,
} from '../../object/index.js';
import type { PathElement, FieldNode, UnstructuredObject, Schema } from '../../object/index.js';
import { atomOf } from './atom.js';
import type { Atom, MapType } from './atom.js';
import { compare, toFieldSet } from './compare.js';
import type { Comparison } from './compare.js';
import { ApplyConflictError, checkConverted, converting } from './validate-value.js';
import { ownerId, ownerText } from './managers.js';
import type { Owner, Owners, Writer } from './managers.js';
import { merge } from './merge.js';
import { prune } from './prune.js';

/** Options of both {@link applyUpdate} and {@link trackUpdate}. */
interface UpdateRequest {
  /** The current object, without `managedFields`, in the writer's version. */
  readonly live: unknown;
  readonly owners: Owners;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly filter: FieldFilter;
}

interface ApplyRequest extends UpdateRequest {
  readonly applied: unknown;
  readonly force: boolean;
}

interface TrackRequest extends UpdateRequest {
  /** The object to store, without `managedFields`. */
  readonly next: unknown;
}

/** The object after an apply, and its owners. */
export interface Applied {
  /** The live object itself if nothing changes. */
  readonly object: unknown;
  readonly owners: Owners;
}

/**
 * Merges an apply into the live object, removes fields that the writer no longer applies, and makes
 * the writer own all fields that it applies.
 * @throws ApplyConflictError other managers own fields that would change, and `force` is not set.
 */
export function applyUpdate(request: ApplyRequest): Applied {
  const { live, applied, writer, versions, filter, force } = request;
  const { atom } = versions.own;
  const owners = reconciledOwners(request);
  const id = ownerId(writer);
  const last = owners.get(id);
  const set = filter(toFieldSet(applied, atom), writer.apiVersion);
  owners.set(id, { ...writer, set, time: last?.time });
  const merged = merge(live, applied, atom);
  const object =
    last === undefined
      ? merged
      : converting('failed to prune fields', () => prune(merged, last, { owners, id, versions }));
  settle(request, { owners, next: object, self: id, force });
  return { object: deepEqual(object, live) ? live : object, owners };
}

/**
 * Removes the fields that a write other than apply changes from their other owners. `owners` does
 * not include the writer's new fields: the caller adds `changed` to the writer's entry.
 */
export function trackUpdate(request: TrackRequest): {
  readonly changed: FieldSet;
  readonly owners: Map<string, Owner>;
} {
  const { next, writer, filter } = request;
  const owners = reconciledOwners(request);
  const { added, modified } = settle(request, { owners, next, self: undefined, force: true });
  return { changed: filter(modified.union(added), writer.apiVersion), owners };
}

function reconciledOwners({ live, owners, versions }: UpdateRequest): Map<string, Owner> {
  const reconciled = new Map<string, Owner>();
  for (const [id, owner] of owners) {
    const version = versions.at(live, owner.apiVersion);
    // The version is no longer served, so these fields cannot be interpreted.
    if (version === undefined) continue;
    const set = reconcileWithSchema(owner.set, version.atom);
    reconciled.set(id, set === owner.set ? owner : { ...owner, set, wire: undefined });
  }
  return reconciled;
}

interface Settlement {
  readonly owners: Map<string, Owner>;
  readonly next: unknown;
  /** The id of the entry that stays unchanged. */
  readonly self: string | undefined;
  readonly force: boolean;
}

/**
 * Removes changed fields from the other owners, or throws a conflict. Returns the changes in the writer's
 * version.
 */
function settle(request: UpdateRequest, settlement: Settlement): Comparison {
  const { owners, self, force } = settlement;
  const byVersion = new ComparisonsByVersion(request, settlement.next);
  const taken: Taken[] = [];
  for (const [id, owner] of owners) {
    if (id === self) continue;
    const { added, modified, removed } = byVersion.of(owner.apiVersion);
    taken.push({ id, owner, lost: owner.set.intersection(modified.union(added)), removed });
  }
  const conflicts = taken.filter(({ lost }) => !lost.isEmpty);
  if (!force && conflicts.length > 0) throw conflictOf(conflicts);
  for (const { id, owner, lost, removed } of taken) {
    const set = owner.set.difference(lost).difference(removed);
    if (set !== owner.set) owners.set(id, { ...owner, set, wire: undefined });
  }
  for (const [id, { set }] of owners) if (set.isEmpty) owners.delete(id);
  return byVersion.of(request.writer.apiVersion);
}

/** The fields that an owner loses to the writer. */
interface Taken {
  readonly id: string;
  readonly owner: Owner;
  readonly lost: FieldSet;
  readonly removed: FieldSet;
}

/** Differences between the live and the next object, in each version in which a manager owns fields. */
class ComparisonsByVersion {
  readonly #request: UpdateRequest;
  readonly #next: unknown;
  readonly #known = new Map<string, Comparison>();
  #own: Comparison | undefined;

  constructor(request: UpdateRequest, next: unknown) {
    this.#request = request;
    this.#next = next;
  }

  of(apiVersion: string): Comparison {
    const known = this.#known.get(apiVersion) ?? this.#compare(apiVersion);
    this.#known.set(apiVersion, known);
    return known;
  }

  #compare(apiVersion: string): Comparison {
    const { live, versions, filter } = this.#request;
    const old = converting('failed to convert old object', () => versions.at(live, apiVersion));
    const next = converting('failed to convert new object', () =>
      versions.at(this.#next, apiVersion),
    );
    const { own } = versions;
    const found =
      old === undefined || next === undefined || old.value === live
        ? (this.#own ??= compare(live, this.#next, own.atom))
        : compare(old.value, next.value, old.atom);
    return filtered(found, (set) => filter(set, apiVersion));
  }
}

function filtered(found: Comparison, filter: (set: FieldSet) => FieldSet): Comparison {
  const { added, modified, removed } = found;
  return { added: filter(added), modified: filter(modified), removed: filter(removed) };
}

function conflictOf(conflicts: readonly Taken[]): ApplyConflictError {
  const sorted = conflicts.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return new ApplyConflictError(
    sorted.flatMap(({ owner, lost }) =>
      lost.paths().map((path) => ({
        manager: owner.manager,
        owner: ownerText(owner),
        field: pathToServerString(path),
        path,
      })),
    ),
  );
}

/** An object in another version of its kind's API, with that version's schema. */
export interface VersionedObject {
  readonly object: UnstructuredObject;
  /** The schema of that version. If undefined, types are deduced. */
  readonly schema: Schema | undefined;
}

/**
 * Converts `object` from the version in its `apiVersion` to `apiVersion`. Required fields may be
 * missing from `object`, because some are already pruned. Returns `undefined` if `apiVersion` is no
 * longer served; the managedFields entries in it are dropped then.
 */
export type VersionConverter = (
  object: UnstructuredObject,
  apiVersion: string,
) => VersionedObject | undefined;

/** A value and its type in one version. */
export interface VersionedValue {
  readonly value: unknown;
  readonly atom: Atom;
}

/** Converts values between the versions that one request needs. */
export class Versions {
  /** The version of the request. */
  readonly own: { readonly apiVersion: string; readonly atom: Atom };
  readonly #convert: VersionConverter | undefined;

  constructor(apiVersion: string, schema: Schema | undefined, convert?: VersionConverter) {
    this.own = { apiVersion, atom: atomOf(schema) };
    this.#convert = convert;
  }

  /**
   * Returns `value` (of any version) in `apiVersion`, or `undefined` if that version is no longer
   * served.
   * @throws TypedConversionError the converted value does not fit its schema.
   */
  at(value: unknown, apiVersion: string): VersionedValue | undefined {
    const object = value as UnstructuredObject;
    const { own } = this;
    const asIs = object.apiVersion === apiVersion && apiVersion === own.apiVersion;
    if (asIs || this.#convert === undefined) return { value, atom: own.atom };
    const converted = this.#convert(object, apiVersion);
    if (converted === undefined) return undefined;
    const atom = atomOf(converted.schema);
    if (converted.object !== object) checkConverted(converted.object, atom);
    return { value: converted.object, atom };
  }
}

// The schema that each checked field set fits. Successive versions of an object share field sets, so each is checked
// once.
const reconciled = new WeakMap<FieldNode, Atom>();

/**
 * Adapts `set` to a schema that has become atomic somewhere since `set` was written: the owner of a
 * part becomes the owner of the whole. A schema that has become granular needs no change.
 */
export function reconcileWithSchema(set: FieldSet, atom: Atom): FieldSet {
  const { root } = set;
  if (set.isEmpty || reconciled.get(root) === atom) return set;
  const node = reconcile(root, atom);
  reconciled.set(node, atom);
  return node === root ? set : FieldSet.ofRoot(node);
}

function reconcile(node: FieldNode, atom: Atom): FieldNode {
  if (isLeaf(node)) return node;
  const { map, list } = atom;
  if (map !== undefined) return reconcileMap(node, map);
  if (atom.scalar !== undefined || list === undefined) return node;
  return list.atomic ? leaf : reconcileChildren(node, () => list.items.atom);
}

function reconcileMap(node: FieldNode, map: MapType): FieldNode {
  if (isDeduced(map)) return node;
  if (map.atomic) return leaf;
  return reconcileChildren(node, (element) => {
    const named = element.startsWith('f:') ? map.fields.get(element.slice(2)) : undefined;
    return (named ?? map.others)?.atom;
  });
}

// Types deduced from values have no list or map markers that could have changed.
function isDeduced(map: MapType): boolean {
  return map.fields.size === 0 && map.others?.atom.scalar === 'untyped';
}

function reconcileChildren(
  node: FieldNode,
  typeOf: (element: PathElement) => Atom | undefined,
): FieldNode {
  const builder = new FieldNodeBuilder(isMember(node));
  let changed = false;
  for (const element of elementsOf(node)) {
    const child = node[element] as FieldNode;
    const type = isLeaf(child) ? undefined : typeOf(element);
    const now = type === undefined ? child : reconcile(child, type);
    changed ||= now !== child;
    builder.add(element, now);
  }
  return changed ? (builder.buildSorted() ?? node) : node;
}

/**
 * Picks the fields of `set` that a client may own through an endpoint.
 * @param apiVersion - The API version of the fields in `set`.
 */
export type FieldFilter = (set: FieldSet, apiVersion: string) => FieldSet;

/**
 * Returns a filter that drops the fields at `paths` (`spec`, `metadata.labels`) and everything
 * below them.
 */
export function excludeFields(...paths: readonly string[]): FieldFilter {
  const excluded = FieldSet.of(...paths.map((path) => fieldPath(...path.split('.'))));
  return (set) => set.recursiveDifference(excluded);
}
