import omit from 'lodash/omit.js';
import { isAlreadyExists, isInvalid } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import type { FieldChange } from '../object/diff-by-path.js';
import { isJsonObject } from '../object/json.js';
import { Pod, Service } from '../object/kinds.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { OperatorError } from '../system/operator-error.js';
import { applyOptions, asNew, asRead } from './context.js';
import type { ApplyContext } from './context.js';
import type { Recreating } from './decide.js';
import type { DesiredObject } from './desired-object.js';
import { growClaimsOfTemplates } from './grow-claims.js';
import { isKind } from './kind-traits.js';
import { done, pending } from './results.js';
import type { Outcome } from './results.js';
import { podTemplateIn } from './pod-template.js';

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
