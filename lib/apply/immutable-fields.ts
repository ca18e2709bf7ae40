import {
  deepEqual,
  isAlreadyExists,
  isApiError,
  isDenied,
  isFoundInvalid,
  describeObject,
  isJsonObject,
  ConfigMap,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
  StatefulSet,
  compareQuantities,
  redactChanges,
} from '../object/index.js';
import omit from 'lodash/omit.js';
import type { FieldChange, UnstructuredObject } from '../object/index.js';
import { OperatorError } from '../system/index.js';
import { applyOptions, deleteAsRead } from './context.js';
import type { ApplyContext } from './context.js';
import type { Recreating } from './decision.js';
import type { DesiredObject, Pair } from './desired-object.js';
import { desiredDifferences, droppedFields } from './differences.js';
import { isImmutablePath, isKind, isWithin } from './kind-traits.js';
import { podTemplateIn } from './pod-template.js';
import { applyAsRead } from './removed-fields.js';
import { done, pending } from './results.js';
import type { Outcome } from './results.js';

/**
 * Returns the changes of the live object that the server never allows. They come from a local comparison,
 * because the server often names only `spec`. If that finds no change, they are the fields that `refusal`, the 422 of
 * the server or of a webhook, calls immutable. Fields that `manager` has applied and no longer desires count too.
 */
export function immutableChanges(
  pair: Pair,
  manager: string,
  refusal?: unknown,
): readonly FieldChange[] {
  const { desired, live } = pair;
  const changed = desiredDifferences(bodyOf(desired.object), bodyOf(live));
  const dropped = droppedFields(pair, manager).filter((change) => !isFilledAnew(pair, change));
  const isPolicy = isApiError(refusal) && isDenied(refusal);
  const known = isPolicy ? [] : [...changed, ...dropped].filter(({ path }) => isFrozen(live, path));
  const changes = known.length > 0 ? known : saidToBeImmutable(refusal, changed);
  return redactChanges(live.kind, changes);
}

/**
 * Returns true if the server would accept the update, but without effect on the live object. For example, a
 * Service stays headless, without an error, if the update removes `clusterIP: None`.
 */
export function isIgnoredChange(pair: Pair, manager: string): boolean {
  if (!isKind(pair.live, Service)) return false;
  const dropped = droppedFields(pair, manager).filter((change) => !isFilledAnew(pair, change));
  return dropped.some(({ path }) => isFrozen(pair.live, path));
}

type ServiceSpec = NonNullable<Service['spec']>;

// Returns true if the server fills in the dropped field of a Service again, for example its address. It fills in
// `None`, the mark of a headless Service, only if `clusterIP` or `clusterIPs` still has it.
function isFilledAnew({ desired, live }: Pair, { from }: FieldChange): boolean {
  if (!isKind(live, Service)) return false;
  const { type, clusterIP, clusterIPs } = (desired.object['spec'] ?? {}) as ServiceSpec;
  const staysHeadless = isHeadless(clusterIP) || isHeadless(clusterIPs);
  return !isHeadless(from) || staysHeadless || type === 'ExternalName';
}

function isHeadless(address: unknown): boolean {
  return deepEqual(address, 'None') || deepEqual(address, ['None']);
}

function isFrozen(live: UnstructuredObject, path: string): boolean {
  const holdsData = isKind(live, ConfigMap) || isKind(live, Secret);
  // Data can't change once the live object has `immutable: true`; the type never can.
  if (holdsData && path !== 'type' && live['immutable'] !== true) return false;
  return isImmutablePath(live, path);
}

function bodyOf(object: UnstructuredObject): object {
  return omit(object, ['metadata', 'status']);
}

const immutability = /immutable|may not change|cannot change|can't be changed/i;

/**
 * Returns the fields that `refusal` calls immutable. A webhook or a policy may also refuse a change because the whole
 * object must stay as it is. Its refusal therefore counts only for fields that `changed` contains.
 */
function saidToBeImmutable(
  refusal: unknown,
  changed: readonly FieldChange[],
): readonly FieldChange[] {
  if (!isApiError(refusal)) return [];
  const isMeant = (field: string): boolean =>
    !isDenied(refusal) ||
    changed.some(({ path }) => isWithin(path, field) || isWithin(field, path));
  return refusal.causes.flatMap(({ field = '', message = '' }) =>
    field !== '' && immutability.test(message) && isMeant(field)
      ? [{ path: field, from: undefined, to: undefined }]
      : [],
  );
}

const claimSize = 'spec.resources.requests.storage';
const templateSize = /^spec\.volumeClaimTemplates\[\d+\]\.spec\.resources\.requests\.storage$/;

/** Returns true if `changes` only request more storage for a claim or for claim templates. */
export function isGrowthOnly(object: UnstructuredObject, changes: readonly FieldChange[]): boolean {
  const isGrowth = (change: FieldChange): boolean =>
    isClaimSize(object, change.path) && grows(change);
  return changes.length > 0 && changes.every(isGrowth);
}

/** Returns true if `path` is the requested storage of a claim or of a claim template. */
export function isClaimSize(object: UnstructuredObject, path: string): boolean {
  return (
    (isKind(object, PersistentVolumeClaim) && path === claimSize) ||
    (isKind(object, StatefulSet) && templateSize.test(path))
  );
}

/** Returns true if `changes` include larger claims in the templates of a StatefulSet. */
export function growsTemplates(
  object: UnstructuredObject,
  changes: readonly FieldChange[],
): boolean {
  if (!isKind(object, StatefulSet)) return false;
  return changes.some((change) => templateSize.test(change.path) && grows(change));
}

/** Returns true if the deletion of a StatefulSet deletes the claims of its pods. */
export function deletesClaims(live: UnstructuredObject): boolean {
  if (!isKind(live, StatefulSet)) return false;
  const { persistentVolumeClaimRetentionPolicy: policy, volumeClaimTemplates = [] } = (live[
    'spec'
  ] ?? {}) as NonNullable<StatefulSet['spec']>;
  return policy?.whenDeleted === 'Delete' && volumeClaimTemplates.length > 0;
}

function grows({ from, to }: FieldChange): boolean {
  const isAmount = (value: unknown): value is string | number =>
    typeof value === 'string' || typeof value === 'number';
  return isAmount(from) && isAmount(to) && compareQuantities(to, from) > 0;
}

/**
 * Deletes `live` and creates in its place `creation`, which {@link checkRecreation} returned.
 *
 * ## Guarantees
 * Only the object that was read is deleted. If finalizers delay the deletion, the outcome is pending, and a later
 * reconcile creates the object.
 */
export async function recreateObject(
  context: ApplyContext,
  { desired, live, orphan, changes }: Recreating,
  creation: UnstructuredObject,
): Promise<Outcome> {
  const { client, settings } = context;
  const { signal } = settings;
  const propagationPolicy = orphan ? 'Orphan' : 'Background';
  const deletion = { propagationPolicy, signal, details: { changes } } as const;
  const remaining = await deleteAsRead(client, desired.type, live, deletion);
  if (remaining !== undefined && remaining.metadata.uid === live.metadata.uid) {
    const why = changes.map(({ path }) => path).join(', ');
    return pending(desired.ref, `is being deleted and will be recreated with another ${why}`, {
      live,
    });
  }
  const creating = { live: undefined, desired: creation };
  const created = await applyAsRead(client, creating, applyOptions(context, { changes }));
  return done('recreated', desired.ref, { changes, live: created });
}

/**
 * Checks by a dry run that the server would accept the new object. Writes nothing.
 * @returns the object that would be created
 * @throws OperatorError `Terminal`: the new object is invalid.
 * @throws OperatorError `ImmutableField`: the pods are to stay, but the new object would not select them.
 */
export async function checkRecreation(
  context: ApplyContext,
  { desired, live, orphan, changes }: Recreating,
): Promise<UnstructuredObject> {
  const creation = creationBeside(desired, live);
  if (orphan) await checkSelection(context, desired, live);
  await probe(context, { desired, creation }, changes);
  return creation;
}

// Keeps the `replicas` that an autoscaler has set.
function creationBeside(desired: DesiredObject, live: UnstructuredObject): UnstructuredObject {
  const { spec } = desired.creation;
  if (!desired.replicasExternal || !isJsonObject(spec) || !isJsonObject(live['spec'])) {
    return desired.creation;
  }
  const { replicas } = live['spec'];
  return { ...desired.creation, spec: { ...spec, replicas } };
}

async function probe(
  { client, settings }: ApplyContext,
  { desired, creation }: { readonly desired: DesiredObject; readonly creation: UnstructuredObject },
  changes: readonly FieldChange[],
): Promise<void> {
  const { controllerName: fieldManager, signal } = settings;
  try {
    await client.create(probeObject(creation), { fieldManager, signal, dryRun: true });
  } catch (error) {
    if (isAlreadyExists(error)) return;
    if (!isFoundInvalid(error)) throw error;
    const paths = changes.map(({ path }) => path).join(', ');
    const message = `${describeObject(desired.ref)} can't be recreated to change ${paths}: the new object is invalid, so nothing was deleted; correct it: ${(error as Error).message}`;
    throw new OperatorError('Terminal', message, { cause: error });
  }
}

// The dry run must not request the address and the ports that the old Service still holds: the server would
// reject it for that reason alone.
function probeObject(object: UnstructuredObject): UnstructuredObject {
  if (!isKind(object, Service)) return object;
  const given = object['spec'] as ServiceSpec;
  const held = [
    ...(isHeadless(given.clusterIP) ? [] : ['clusterIP', 'clusterIPs']),
    'healthCheckNodePort',
  ];
  const ports = given.ports?.map((port) => omit(port, 'nodePort'));
  const spec = { ...omit(given, held), ...(ports !== undefined && { ports }) };
  return { ...object, spec };
}

// Pods that the new selector does not select would keep their names, so the new StatefulSet could never create its own.
async function checkSelection(
  { client, settings }: ApplyContext,
  desired: DesiredObject,
  live: UnstructuredObject,
): Promise<void> {
  const wanted = selectorOf(desired.object);
  const { namespace } = desired.ref;
  const matchLabels = selectorOf(live);
  if (Object.keys(matchLabels).length === 0) return;
  const labelSelector = { matchLabels };
  const pods = await client.list(Pod, { namespace, labelSelector, signal: settings.signal });
  const labels = [
    podTemplateIn(live)?.metadata?.labels ?? {},
    ...pods.items.map(({ metadata }) => metadata.labels ?? {}),
  ];
  const selects = (has: Readonly<Record<string, string>>): boolean =>
    Object.entries(wanted).every(([key, value]) => has[key] === value);
  if (labels.every(selects)) return;
  const message = `${describeObject(desired.ref)} can't be recreated around its pods: the new selector does not match them; keep the selector, or set onImmutable to recreate`;
  throw new OperatorError('ImmutableField', message);
}

function selectorOf(object: UnstructuredObject): Readonly<Record<string, string>> {
  const { selector } = (object['spec'] ?? {}) as {
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  };
  return selector?.matchLabels ?? {};
}
