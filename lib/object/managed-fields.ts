import type { FieldPath } from './field-path.js';
import { FieldSet } from './field-set.js';
import { isLeaf, isMember } from './field-tree.js';
import type { KubernetesObject, ManagedFieldsEntry } from './kubernetes-object.js';

/** A writer of an object, as named in its `managedFields`. */
export interface FieldManager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  /** The subresource; empty for the object itself. */
  readonly subresource: string;
  /** RFC 3339; absent if the server recorded no time. */
  readonly time: string | undefined;
}

/** Options of {@link appliedFields}. */
export interface AppliedFieldsOptions {
  /**
   * The subresource of the entry.
   * @defaultValue '', the object itself
   */
  readonly subresource?: string | undefined;
  /** The API version of the entry. @defaultValue any */
  readonly apiVersion?: string | undefined;
}

/**
 * Returns the fields that `manager` applied last, without those that other managers changed or removed since.
 * Returns `undefined` without an Apply entry: the manager never applied, the `managedFields` were cleared, or
 * other managers own all fields.
 * @throws OperatorError `InvalidValue`: the entry is invalid.
 */
export function appliedFields(
  live: KubernetesObject,
  manager: string,
  options: AppliedFieldsOptions = {},
): FieldSet | undefined {
  const { subresource = '', apiVersion } = options;
  const entry = live.metadata.managedFields?.find(
    (each) =>
      isEntryOf(each, manager, 'Apply') &&
      (each.subresource ?? '') === subresource &&
      (apiVersion === undefined || each.apiVersion === apiVersion),
  );
  return entry && FieldSet.fromFieldsV1(entry.fieldsV1 ?? {});
}

function isEntryOf(
  entry: ManagedFieldsEntry,
  manager: string,
  operation: FieldManager['operation'],
): boolean {
  return entry.manager === manager && entry.operation === operation;
}

/** Returns the owners of the field at `path`, or of the atomic value around it, newest first. */
export function fieldManagersOf(live: KubernetesObject, path: FieldPath): FieldManager[] {
  const entries = live.metadata.managedFields ?? [];
  return newestFirst(entries.filter((entry) => owns(entry, path)).map(managerOf));
}

/**
 * Returns the manager that updated (not applied) any field of the object itself last. Ignores writers of a subresource,
 * such as the status of a workload: they can't change other fields.
 */
export function lastUpdater(live: KubernetesObject): FieldManager | undefined {
  const managers = (live.metadata.managedFields ?? []).map(managerOf);
  return newestFirst(
    managers.filter(({ operation, subresource }) => operation === 'Update' && subresource === ''),
  )[0];
}

function managerOf(entry: ManagedFieldsEntry): FieldManager {
  const { manager = '', operation = 'Update', subresource = '', time } = entry;
  return { name: manager, operation, subresource, time };
}

function newestFirst(managers: FieldManager[]): FieldManager[] {
  return managers.sort((a, b) => {
    const [timeA, timeB] = [a.time ?? '', b.time ?? ''];
    return timeA === timeB ? 0 : timeA < timeB ? 1 : -1;
  });
}

function owns(entry: ManagedFieldsEntry, path: FieldPath): boolean {
  let node = FieldSet.fromFieldsV1(entry.fieldsV1 ?? {}).root;
  for (const [depth, element] of path.entries()) {
    // The owner of an atomic list or map owns everything below it.
    if (depth > 0 && isLeaf(node)) return true;
    const child = node[element];
    if (child === undefined) return false;
    node = child;
  }
  return path.length > 0 && isMember(node);
}

/** Options of {@link adoptManagedFields}. */
export interface AdoptOptions {
  /** The managers whose Update entries give up their fields. */
  readonly managers: readonly string[];
  /** The manager whose Apply entry takes these fields over. */
  readonly into: string;
}

/**
 * Transfers fields that `managers` wrote by updates to the Apply entry of `into` (client-go's `csaupgrade`).
 * The next apply then removes fields that are no longer applied. Send the result as a JSON patch that
 * replaces `/metadata/managedFields`, together with the `resourceVersion` that was read. Entries of
 * subresources stay. An Update entry of another API version than the Apply entry is dropped, because its
 * fields cannot be expressed in the other version.
 * @returns the new list, or `undefined` if nothing changes.
 * @throws OperatorError `InvalidValue`: an entry is invalid.
 */
export function adoptManagedFields(
  entries: readonly ManagedFieldsEntry[] | undefined,
  { managers, into }: AdoptOptions,
): ManagedFieldsEntry[] | undefined {
  let list = [...(entries ?? [])];
  let adopted = false;
  for (const manager of managers) {
    const updates = list.filter((entry) => isAdoptable(entry, manager));
    const [first] = updates;
    if (first === undefined) continue;
    adopted = true;
    const applied = list.find((entry) => isOwnApply(entry, into));
    const target = applied ?? { ...first, manager: into, operation: 'Apply' as const };
    const merged = withFieldsOf(target, updates);
    list = list
      .map((entry) => (entry === (applied ?? first) ? merged : entry))
      .filter((entry) => !updates.includes(entry));
  }
  return adopted ? list : undefined;
}

function isAdoptable(entry: ManagedFieldsEntry, manager: string): boolean {
  return isEntryOf(entry, manager, 'Update') && (entry.subresource ?? '') === '';
}

function isOwnApply(entry: ManagedFieldsEntry, manager: string): boolean {
  return isEntryOf(entry, manager, 'Apply') && (entry.subresource ?? '') === '';
}

function withFieldsOf(
  target: ManagedFieldsEntry,
  updates: readonly ManagedFieldsEntry[],
): ManagedFieldsEntry {
  const sets = [target, ...updates]
    .filter(({ apiVersion }) => apiVersion === target.apiVersion)
    .map(({ fieldsV1 }) => FieldSet.fromFieldsV1(fieldsV1 ?? {}));
  const all = sets.reduce((set, more) => set.union(more), FieldSet.empty);
  return { ...target, fieldsV1: all.toFieldsV1() };
}
