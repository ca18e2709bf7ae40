import isEqual from 'lodash/isEqual.js';
import omit from 'lodash/omit.js';
import { isAlreadyExists, isApiError, isInvalid } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import type { FieldChange } from '../object/diff-by-path.js';
import { isJsonObject } from '../object/json.js';
import {
  ConfigMap,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
  StatefulSet,
} from '../object/kinds.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { compareQuantities } from '../object/quantity.js';
import { redactChanges } from '../object/redact.js';
import { OperatorError } from '../system/operator-error.js';
import { applyOptions, asNew, asRead } from './context.js';
import type { ApplyContext } from './context.js';
import type { Recreating } from './decide.js';
import type { DesiredObject, Pair } from './desired-object.js';
import { desiredDifferences, droppedFields } from './differences.js';
import { growClaimsOfTemplates } from './grow-claims.js';
import { isImmutablePath, isKind } from './kind-traits.js';
import { podTemplateIn } from './pod-template.js';
import { done, pending } from './results.js';
import type { Outcome } from './results.js';

/**
 * The changes of the live object that the server never allows, by our own comparison: it often says
 * only `spec`. Where we know of none, what `refusal`, the server's 422, says is immutable. Fields that
 * `manager` has applied and that are not desired any more count too.
 */
export function immutableChanges(
  pair: Pair,
  manager: string,
  refusal?: unknown,
): readonly FieldChange[] {
  const { desired, live } = pair;
  const changed = desiredDifferences(bodyOf(desired.object), bodyOf(live));
  const dropped = droppedFields(pair, manager).filter(
    (change) =>
      !isFilledAnew(pair, change) && !changed.some(({ path }) => isWithin(change.path, path)),
  );
  const known = [...changed, ...dropped].filter(({ path }) => isFrozen(live, path));
  const changes = known.length > 0 ? known : saidToBeImmutable(refusal);
  return redactChanges(live.kind, changes);
}

/**
 * Whether the server would take the update, and yet leave the live object as it is: a Service that is
 * not to be headless any more stays so without a word.
 */
export function isIgnoredChange(pair: Pair, manager: string): boolean {
  if (!isKind(pair.live, Service)) return false;
  const dropped = droppedFields(pair, manager).filter((change) => !isFilledAnew(pair, change));
  return dropped.some(({ path }) => isFrozen(pair.live, path));
}

// Who does not say which address a Service has is content with any; but none at all is another thing.
function isFilledAnew({ desired, live }: Pair, { from }: FieldChange): boolean {
  if (!isKind(live, Service)) return false;
  const { type } = (desired.object['spec'] ?? {}) as { readonly type?: string };
  const headless = isEqual(from, 'None') || isEqual(from, ['None']);
  return !headless || type === 'ExternalName';
}

function isWithin(path: string, parent: string): boolean {
  return path === parent || path.startsWith(`${parent}.`) || path.startsWith(`${parent}[`);
}

function isFrozen(live: UnstructuredObject, path: string): boolean {
  const holdsData = isKind(live, ConfigMap) || isKind(live, Secret);
  // Data can't be changed once `immutable: true` stands in the live object; the type never can.
  if (holdsData && path !== 'type' && live['immutable'] !== true) return false;
  return isImmutablePath(live, path);
}

function bodyOf(object: UnstructuredObject): object {
  return omit(object, ['metadata', 'status']);
}

const immutability = /immutable|may not change|cannot change|can't be changed/i;

function saidToBeImmutable(refusal: unknown): readonly FieldChange[] {
  const causes = isApiError(refusal) ? refusal.causes : [];
  const said = causes.filter(({ message = '' }) => immutability.test(message));
  return said.map(({ field = '' }) => ({ path: field, from: undefined, to: undefined }));
}

const claimSize = 'spec.resources.requests.storage';
const templateSize = /^spec\.volumeClaimTemplates\[\d+\]\.spec\.resources\.requests\.storage$/;

/** Whether `changes` are nothing but a claim, or templates of claims, that ask for more. */
export function isGrowthOnly(object: UnstructuredObject, changes: readonly FieldChange[]): boolean {
  const isSize = (path: string): boolean =>
    (isKind(object, PersistentVolumeClaim) && path === claimSize) ||
    (isKind(object, StatefulSet) && templateSize.test(path));
  return changes.length > 0 && changes.every((change) => isSize(change.path) && grows(change));
}

/** Whether `changes`, whatever else they are, ask for larger claims of a StatefulSet's templates. */
export function growsTemplates(
  object: UnstructuredObject,
  changes: readonly FieldChange[],
): boolean {
  if (!isKind(object, StatefulSet)) return false;
  return changes.some((change) => templateSize.test(change.path) && grows(change));
}

function grows({ from, to }: FieldChange): boolean {
  const isAmount = (value: unknown): value is string | number =>
    typeof value === 'string' || typeof value === 'number';
  return isAmount(from) && isAmount(to) && compareQuantities(to, from) > 0;
}

/**
 * Deletes `live` and makes the desired object in its place.
 *
 * ## Guarantees
 * Nothing is deleted before a dry run has shown that the server would take the new object, and only
 * the very object that was read is. Where it does not go at once (finalizers), the outcome is
 * pending, and the next reconcile finds nothing and creates.
 * @throws OperatorError `Terminal`: the new object is invalid. Nothing was deleted.
 * @throws OperatorError `ImmutableField`: pods were to be kept that the new object would not select.
 */
export async function recreateObject(
  context: ApplyContext,
  decision: Recreating,
): Promise<Outcome> {
  const { desired, live, orphan, changes, grows } = decision;
  const creation = await checkRecreation(context, decision);
  const waiting = grows ? await growClaimsOfTemplates(context, decision) : undefined;
  if (waiting !== undefined) return waiting;
  const { client, settings } = context;
  const { signal } = settings;
  const remaining = await client.delete(desired.type, desired.ref, {
    propagationPolicy: orphan ? 'Orphan' : 'Background',
    preconditions: asRead(live),
    signal,
  });
  if (remaining !== undefined && remaining.metadata.uid === live.metadata.uid) {
    const why = changes.map(({ path }) => path).join(', ');
    return pending(desired.ref, `is being deleted, to be made again with another ${why}`, { live });
  }
  const { object } = await client.apply(asNew(creation), applyOptions(context));
  return done('recreated', desired.ref, { changes, live: object });
}

/**
 * Finds out whether {@link recreateObject} would do it. Writes nothing.
 * @returns what would be made
 * @throws OperatorError `Terminal`, `ImmutableField`: see there.
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

// What an autoscaler has set is not to be lost.
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
    if (!isInvalid(error)) throw error;
    const paths = changes.map(({ path }) => path).join(', ');
    const message = `${describeObject(desired.ref)} can't be recreated to change ${paths}: the new object is invalid, so nothing was deleted; correct it: ${(error as Error).message}`;
    throw new OperatorError('Terminal', message, { cause: error });
  }
}

// The old Service still holds its address and ports: the probe would fail for them alone.
function probeObject(object: UnstructuredObject): UnstructuredObject {
  if (!isKind(object, Service)) return object;
  const given = object['spec'] as NonNullable<Service['spec']>;
  const headless = given.clusterIP === 'None';
  const held = [...(headless ? [] : ['clusterIP', 'clusterIPs']), 'healthCheckNodePort'];
  const ports = given.ports?.map((port) => omit(port, 'nodePort'));
  const spec = { ...omit(given, held), ...(ports !== undefined && { ports }) };
  return { ...object, spec };
}

// Pods that the new selector leaves out would keep their names, and block the new set for ever.
async function checkSelection(
  { client, settings }: ApplyContext,
  desired: DesiredObject,
  live: UnstructuredObject,
): Promise<void> {
  const wanted = selectorOf(desired.object);
  const { namespace } = desired.ref;
  const labelSelector = Object.entries(selectorOf(live))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  if (labelSelector === '') return;
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
