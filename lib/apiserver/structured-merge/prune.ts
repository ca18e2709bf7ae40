import { FieldSet } from '../../object/field-set.js';
import type { Atom } from './atom.js';
import type { Owner, Owners } from './managers.js';
import { ensureNamedFieldsAreMembers } from './named-fields.js';
import { removeItems } from './remove-items.js';
import { toFieldSet } from './to-field-set.js';
import type { VersionedValue, Versions } from './versions.js';

/** What {@link prune} has to know about the apply. */
export interface PruneContext {
  /** Who owns what, the applier what it applies now. */
  readonly owners: Owners;
  /** The applier. */
  readonly id: string;
  readonly versions: Versions;
}

/**
 * Takes out of `merged` what the applier applied last time and does not apply now, unless somebody
 * else owns it. What nobody owned stays, also below what goes.
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

/** Puts back what anybody owns, the applier included. */
function addBackOwned(pruning: Pruning, lastVersion: string, context: PruneContext): unknown {
  const { owners, versions } = context;
  const byVersion = new Map<string, FieldSet>([[lastVersion, FieldSet.empty]]);
  for (const { apiVersion, set } of owners.values()) {
    byVersion.set(apiVersion, (byVersion.get(apiVersion) ?? FieldSet.empty).union(set));
  }
  let { merged, pruned } = pruning;
  // The version of the last apply comes first, so that nothing is lost that conversion needs.
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

/** Puts back what went though the applier never owned it. */
function addBackDangling(merged: VersionedValue, pruned: unknown, last: Owner): unknown {
  const { value, atom } = merged;
  const all = withNamed(toFieldSet(value, atom), atom);
  const left = withNamed(toFieldSet(pruned, atom), atom);
  const gone = all.difference(left).intersection(withNamed(last.set, atom));
  return removeItems(value, gone, atom);
}
