import isEqual from 'lodash/isEqual.js';
import omit from 'lodash/omit.js';
import { isApiError } from '../object/api-error.js';
import type { FieldChange } from '../object/diff-by-path.js';
import { ConfigMap, PersistentVolumeClaim, Secret, Service, StatefulSet } from '../object/kinds.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { compareQuantities } from '../object/quantity.js';
import { redactChanges } from '../object/redact.js';
import { desiredDifferences } from './desired-differences.js';
import type { Pair } from './desired-object.js';
import { droppedFields } from './dropped-fields.js';
import { isImmutablePath, isKind } from './kind-traits.js';

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
