import { pathToServerString } from '../../object/field-path.js';
import type { FieldSet } from '../../object/field-set.js';
import { compare } from './compare.js';
import type { Comparison } from './compare.js';
import { ApplyConflictError } from './errors.js';
import type { FieldFilter } from './field-filter.js';
import { ownerId, ownerText } from './managers.js';
import type { Owner, Owners, Writer } from './managers.js';
import { merge } from './merge.js';
import { prune } from './prune.js';
import { reconcileWithSchema } from './reconcile-schema.js';
import { toFieldSet } from './to-field-set.js';
import type { Versions } from './versions.js';

/** Options of both {@link applyUpdate} and {@link trackUpdate}. */
export interface UpdateRequest {
  /** The current object, without `managedFields`, in the writer's version. */
  readonly live: unknown;
  readonly owners: Owners;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly filter: FieldFilter;
}

/** Options of {@link applyUpdate}. */
export interface ApplyRequest extends UpdateRequest {
  readonly applied: unknown;
  readonly force: boolean;
}

/** Options of {@link trackUpdate}. */
export interface TrackRequest extends UpdateRequest {
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
  const object = last === undefined ? merged : prune(merged, last, { owners, id, versions });
  settle(request, { owners, next: object, self: id, force });
  return { object, owners };
}

/**
 * Removes the fields that a write other than apply changes from their other owners. `owners` does
 * not include the writer's new fields: the caller adds `changed` to the writer's entry.
 */
export function trackUpdate(request: TrackRequest): { changed: FieldSet; owners: Owners } {
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
 * Removes changed fields from the other owners, or throws a conflict. Returns the changes of the
 * writer's version.
 */
function settle(request: UpdateRequest, settlement: Settlement): Comparison {
  const { owners, self, force } = settlement;
  const byVersion = new ComparisonsByVersion(request, settlement.next);
  const others = [...owners].filter(([id]) => id !== self);
  const taken = others.map(([id, owner]) => {
    const { added, modified, removed } = byVersion.of(owner.apiVersion);
    return { id, owner, lost: owner.set.intersection(modified.union(added)), removed };
  });
  const conflicts = taken.filter(({ lost }) => !lost.isEmpty);
  if (!force && conflicts.length > 0) throw conflictOf(conflicts);
  for (const { id, owner, lost, removed } of taken) {
    const set = owner.set.difference(lost).difference(removed);
    if (set !== owner.set) owners.set(id, { ...owner, set, wire: undefined });
  }
  for (const [id, { set }] of owners) if (set.isEmpty) owners.delete(id);
  return byVersion.of(request.writer.apiVersion);
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
    const [old, next] = [versions.at(live, apiVersion), versions.at(this.#next, apiVersion)];
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

function conflictOf(
  conflicts: readonly { id: string; owner: Owner; lost: FieldSet }[],
): ApplyConflictError {
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
