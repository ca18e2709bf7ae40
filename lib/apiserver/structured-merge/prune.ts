import { FieldSet } from '../../object/field-set.js';
import type { Atom } from './atom.js';
import type { Owner, Owners } from './managers.js';
import { ensureNamedFieldsAreMembers } from './named-fields.js';
import { removeItems } from './remove-items.js';
import { toFieldSet } from './to-field-set.js';
import type { VersionedValue, Versions } from './versions.js';

/** The ownership data that {@link prune} needs. */
export interface PruneContext {
  /** The owners of fields. The applier's entry already has the fields that it applies now. */
  readonly owners: Owners;
  /** The id of the applier. */
  readonly id: string;
  readonly versions: Versions;
}

/**
 * Removes from `merged` the fields that the applier applied last time and does not apply now,
 * unless another manager owns them. Fields without an owner stay, even below a removed field.
 */
export function prune(merged: unknown, last: Owner, context: PruneContext): unknown {
  const { owners, id, versions } = context;
  const now = owners.get(id);
  if (last.set.isEmpty || now === undefined) return merged;
  if (last.apiVersion === now.apiVersion && now.set.covers(last.set)) return merged;
  const then = versions.at(merged, last.apiVersion);
  if (then === undefined) return merged;
  const pruned = removeItems(then.value, withNamed(last.set, then.atom), then.atom);
  const owned = addBackOwned({ merged: then, pruned }, last.apiVersion, context);
  const ownedThen = versions.at(owned, last.apiVersion);
  if (ownedThen === undefined) return merged;
  const kept = addBackDangling(then, ownedThen.value, last);
  return versions.at(kept, now.apiVersion)?.value ?? merged;
}

function withNamed(set: FieldSet, atom: Atom): FieldSet {
  return ensureNamedFieldsAreMembers(set, atom);
}

interface Pruning {
  readonly merged: VersionedValue;
  readonly pruned: unknown;
}

/** Restores pruned fields that any manager owns, the applier included. */
function addBackOwned(pruning: Pruning, lastVersion: string, context: PruneContext): unknown {
  const { owners, versions } = context;
  const byVersion = new Map<string, FieldSet>([[lastVersion, FieldSet.empty]]);
  for (const { apiVersion, set } of owners.values()) {
    byVersion.set(apiVersion, (byVersion.get(apiVersion) ?? FieldSet.empty).union(set));
  }
  let { merged, pruned } = pruning;
  // Start with the version of the last apply, so that no field is lost that the conversion needs.
  for (const [apiVersion, set] of byVersion) {
    const [all, left] = [versions.at(merged.value, apiVersion), versions.at(pruned, apiVersion)];
    if (all === undefined || left === undefined) continue;
    merged = all;
    pruned = keepOwned(all, left.value, set);
  }
  return pruned;
}

function keepOwned({ value, atom }: VersionedValue, pruned: unknown, owned: FieldSet): unknown {
  const all = withNamed(toFieldSet(value, atom), atom);
  const left = withNamed(toFieldSet(pruned, atom), atom);
  return removeItems(value, all.difference(left.union(withNamed(owned, atom))), atom);
}

/** Restores pruned fields that the applier never owned. */
function addBackDangling(merged: VersionedValue, pruned: unknown, last: Owner): unknown {
  const { value, atom } = merged;
  const all = withNamed(toFieldSet(value, atom), atom);
  const left = withNamed(toFieldSet(pruned, atom), atom);
  const gone = all.difference(left).intersection(withNamed(last.set, atom));
  return removeItems(value, gone, atom);
}
