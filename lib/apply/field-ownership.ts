import has from 'lodash/has.js';
import type { Client } from '../client/index.js';
import type {
  FieldChange,
  FieldPath,
  ManagedFieldsEntry,
  UnstructuredObject,
} from '../object/index.js';
import {
  fieldPath,
  pathToString,
  valueAtPath,
  FieldSet,
  isApiError,
  isJsonObject,
  adoptManagedFields,
  appliedFields,
  keyOf,
  redactChanges,
} from '../object/index.js';
import { jsonPatchAsRead } from './context.js';
import type { ApplyContext, ApplySettings } from './context.js';
import type { DesiredObject, Pair } from './desired-object.js';
import { appliedHashAnnotation, appliedHashPath } from './ownership.js';
import { applyAsRead } from './removed-fields.js';

/** Fields that the operator takes over from other managers before it applies an object. */
export interface Adoption {
  /** The `managedFields` of the object after the adoption. */
  readonly managedFields: readonly ManagedFieldsEntry[];
  /** Why the fields are taken over; undefined if the only reason is the option `adoptManagers`. */
  readonly cause?: string;
  /**
   * The adopted fields that are not desired, so that the apply removes them; undefined if none are adopted.
   */
  readonly removals?: readonly FieldChange[];
}

/**
 * Returns the fields that the operator has to own alone before it applies. These are fields that
 * `adoptManagers` wrote by create and update, and fields that it applied before `managedFields` was cleared.
 * If another manager still owned such a field, the field would stay after it is no longer desired.
 * @returns undefined if there is nothing to adopt
 */
export function adoptionOf(pair: Pair, settings: ApplySettings): Adoption | undefined {
  const { controllerName: into, adoptManagers: managers } = settings;
  const released = releasedFields(pair.live, into);
  const managedFields = released ?? pair.live.metadata.managedFields;
  const adopted = adoptManagedFields(managedFields, { managers, into });
  const all = adopted ?? released;
  if (all === undefined) return undefined;
  return {
    managedFields: all,
    ...(released !== undefined && { cause: cleared }),
    ...(adopted !== undefined && { removals: adoptedRemovals(pair, managers) }),
  };
}

function adoptedRemovals(
  { desired, live }: Pair,
  managers: readonly string[],
): readonly FieldChange[] {
  const adopted = (live.metadata.managedFields ?? []).filter(
    ({ operation, manager = '', subresource = '' }) =>
      operation === 'Update' && subresource === '' && managers.includes(manager),
  );
  const leaves = adopted.flatMap(({ fieldsV1 = {} }) =>
    FieldSet.fromFieldsV1(fieldsV1).leaves().paths(),
  );
  const gone = leaves.filter((path) => valueAtPath(desired.object, path) === undefined);
  const changes = gone.map((path) => ({
    ...{ path: pathToString(path), from: valueAtPath(live, path), to: undefined },
  }));
  return redactChanges(live.kind, changes);
}

const cleared = 'its managedFields had been cleared';
// The manager to which the server assigns all existing fields at the first apply to an object without `managedFields`.
const beforeFirstApply = 'before-first-apply';

/**
 * Returns the `managedFields` of `live`, repaired after a user cleared them. After that, the next apply assigns all
 * existing fields to `before-first-apply`, including those that `manager` applied. The result removes the fields of
 * `manager` from that entry, so that `manager` owns them alone. The entry keeps all other fields, because they may
 * belong to other managers.
 *
 * The function looks for the entry in every reconcile, not only after an apply. So a process that stopped after an
 * apply repairs the entry after its restart.
 * @returns undefined if there is nothing to repair
 */
function releasedFields(
  live: UnstructuredObject,
  manager: string,
): readonly ManagedFieldsEntry[] | undefined {
  const { managedFields = [] } = live.metadata;
  const index = managedFields.findIndex(
    (entry) =>
      entry.manager === beforeFirstApply &&
      entry.operation === 'Update' &&
      (entry.subresource ?? '') === '',
  );
  const entry = managedFields[index];
  if (entry === undefined) return undefined;
  const ours = appliedFields(live, manager);
  const all = FieldSet.fromFieldsV1(entry.fieldsV1 ?? {});
  // The server also adds the entry to an object that `manager` has never applied. Such an object lacks the annotation
  // with the applied hash.
  if (ours === undefined || !all.has(appliedHashPath)) return undefined;
  const rest = all.difference(ours);
  const kept = rest.equals(FieldSet.empty) ? [] : [{ ...entry, fieldsV1: rest.toFieldsV1() }];
  return managedFields.toSpliced(index, 1, ...kept);
}

/**
 * Returns the adoption of defaults for which the server has refused an apply: `strategy.rollingUpdate`
 * together with the type `Recreate`. No manager has set them, so an apply removes them only if the operator owns them.
 * @returns undefined if the refusal does not name such a field
 */
export function adoptionOfDefaults(
  { desired, live }: Pair,
  manager: string,
  refusal: unknown,
): Adoption | undefined {
  const { managedFields = [] } = live.metadata;
  const applied = managedFields.find(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && !entry.subresource,
  );
  if (applied === undefined) return undefined;
  const owned = managedFields.map(({ fieldsV1 = {} }) => FieldSet.fromFieldsV1(fieldsV1));
  const blocking = refusedFields({ live, desired: desired.object }, refusal)
    .map((names) => fieldPath(...names))
    .filter((path) => owned.every((set) => set.recursiveDifference(FieldSet.of(path)).equals(set)));
  if (blocking.length === 0) return undefined;
  const leaves = blocking.flatMap((path) => leavesOf(valueAtPath(live, path), path));
  const fieldsV1 = FieldSet.of(...blocking, ...leaves).toFieldsV1();
  const unowned = { ...applied, manager: '', operation: 'Update', fieldsV1 } as const;
  const entries = [...managedFields, unowned];
  const adopted = adoptManagedFields(entries, { managers: [unowned.manager], into: manager });
  const removals = blocking.map((path) => ({
    ...{ path: pathToString(path), from: valueAtPath(live, path), to: undefined },
  }));
  const cause = `the server's default of ${removals.map(({ path }) => path).join(', ')} conflicts with the desired object`;
  return adopted && { managedFields: adopted, cause, removals: redactChanges(live.kind, removals) };
}

const plainPath = /^[a-z]+(?:\.[a-z]+)+$/i;

/** Returns the paths of the fields that the server names in its refusal of `desired`, and that only `live` has. */
export function refusedFields(
  { live, desired }: { readonly live: UnstructuredObject; readonly desired: UnstructuredObject },
  refusal: unknown,
): readonly (readonly string[])[] {
  const causes = isApiError(refusal) ? refusal.causes : [];
  const plain = causes.flatMap(({ field = '' }) => (plainPath.test(field) ? [field] : []));
  return plain
    .map((field) => field.split('.'))
    .filter((names) => has(live, names) && !has(desired, names));
}

function leavesOf(value: unknown, path: FieldPath): readonly FieldPath[] {
  if (!isJsonObject(value)) return [path];
  return Object.entries(value).flatMap(([name, below]) =>
    leavesOf(below, [...path, ...fieldPath(name)]),
  );
}

/** Writes the `managedFields` of `adoption`. @returns the object after the write */
export async function adoptFields(
  { client, settings }: ApplyContext,
  { desired: { type, ref }, live }: Pair,
  { managedFields, cause }: Adoption,
): Promise<UnstructuredObject> {
  const { controllerName: fieldManager, signal } = settings;
  const replaced = {
    op: 'replace',
    path: '/metadata/managedFields',
    value: managedFields,
  } as const;
  const patch = jsonPatchAsRead(live, [replaced]);
  const options = { fieldManager, signal, details: { cause } };
  return (await client.patch(type, ref, patch, options)) as UnstructuredObject;
}

/** Adopts the fields that an apply has assigned to `before-first-apply`; see {@link adoptionOf}. */
export async function releaseFields(
  context: ApplyContext,
  pair: Pair,
): Promise<UnstructuredObject> {
  const managedFields = releasedFields(pair.live, context.settings.controllerName);
  if (managedFields === undefined) return pair.live;
  return adoptFields(context, pair, { managedFields, cause: cleared });
}

/**
 * Returns `live` with the `managedFields` of `adoption`: a plan continues with it, because it does not write the
 * adoption.
 */
export function withManagedFields(
  live: UnstructuredObject,
  { managedFields }: Adoption,
): UnstructuredObject {
  return { ...live, metadata: { ...live.metadata, managedFields: [...managedFields] } };
}

const keeper = 'operator-builder-replicas';

/**
 * Applies the live `replicas` under another field manager, before the operator leaves them to an autoscaler.
 * If only the operator owned the field, its next apply would reset it to the default, 1.
 * @returns the object after the write
 */
export async function handOverReplicas(
  { client, settings }: ApplyContext,
  pair: Pair,
): Promise<UnstructuredObject> {
  const { live } = pair;
  const replicas = replicasToHandOver(pair, settings.controllerName);
  if (replicas === undefined) return live;
  const { apiVersion, kind } = live;
  const kept = { apiVersion, kind, metadata: keyOf(live), spec: { replicas } };
  const options = { fieldManager: keeper, force: true, signal: settings.signal };
  return applyAsRead(client, { live, desired: kept }, options);
}

/**
 * Returns the object that shows the effect of an apply after {@link handOverReplicas}, for a plan: a dry run can't
 * include the effect of that write.
 */
export function withHandedReplicas(pair: Pair, manager: string): UnstructuredObject {
  const { object } = pair.desired;
  const replicas = replicasToHandOver(pair, manager);
  const { spec } = object;
  return replicas === undefined || !isJsonObject(spec)
    ? object
    : { ...object, spec: { ...spec, replicas } };
}

/** Returns the live `replicas` that `manager` leaves to an autoscaler; undefined if it does not own them. */
function replicasToHandOver({ desired, live }: Pair, manager: string): unknown {
  if (!desired.replicasExternal || !isJsonObject(live['spec'])) return undefined;
  const isOurs = appliedFields(live, manager)?.has(fieldPath('spec', 'replicas')) === true;
  return isOurs ? live['spec']['replicas'] : undefined;
}

/** An object before and after an apply. */
interface Reapplied {
  readonly desired: DesiredObject;
  readonly before: UnstructuredObject;
  readonly after: UnstructuredObject;
}

// The kinds that were warned about, by client: each reconcile builds a new chain, but all use the same client.
const warned = new WeakMap<Client, Set<string>>();

/**
 * Warns if an apply changed nothing because the object was read without `managedFields`, as from a cache that drops
 * them. Every reconcile would then apply again.
 */
export function warnOfDroppedManagers(
  { settings }: ApplyContext,
  { desired, before, after }: Reapplied,
): void {
  const { client, controllerName, logger } = settings;
  const { annotations = {}, managedFields = [] } = before.metadata;
  if (annotations[appliedHashAnnotation] === undefined || managedFields.length > 0) return;
  // If `managedFields` were missing on the server, the apply would have made a new version. A dry run makes no version,
  // but the `managedFields` in its answer are then missing or contain `before-first-apply`.
  if (before.metadata.resourceVersion !== after.metadata.resourceVersion) return;
  const isKnown = appliedFields(after, controllerName) !== undefined;
  if (!isKnown || after.metadata.managedFields?.some(({ manager }) => manager === beforeFirstApply))
    return;
  const kinds = warned.get(client) ?? new Set();
  warned.set(client, kinds);
  const { kind } = desired.ref;
  if (kinds.has(kind)) return;
  kinds.add(kind);
  logger.warn(
    `${kind} is read without managedFields, so every reconcile applies it again: let the controller own the kind with owns(), or make its informer with keepManagedFields`,
    { kind },
  );
}
