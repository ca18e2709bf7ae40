import type { Client } from '../client/index.js';
import { forwarding } from '../client/index.js';
import { isNotFound, isBookkeeping, describeObject, referenceTo } from '../object/index.js';
import type { KubernetesObject, UnstructuredObject, ObjectReference } from '../object/index.js';
import {
  systemClock,
  refuseUnknownOptions,
  OperatorError,
  isOperatorError,
} from '../system/index.js';
import type { Clock } from '../system/index.js';
import { eventually } from './eventually.js';

/** A {@link Client} that records the objects it creates. */
export interface RecordingClient extends Client {
  /** The objects created so far, oldest first. Grows while the client is used. */
  readonly created: readonly ObjectReference[];
}

/** Records every object that `client` creates, for {@link assertNothingLeft}. */
export function recordCreations(client: Client, created: ObjectReference[] = []): RecordingClient {
  const note = (object: KubernetesObject): void => {
    const isStored = object.metadata.uid !== undefined && !isBookkeeping('create', object.kind);
    if (isStored) created.push(referenceTo(object));
  };
  return {
    ...forwarding(client),
    created,
    create: async (object, options) => {
      const made = await client.create(object, options);
      if (options?.subresource === undefined && options?.dryRun !== true) {
        note({ ...made, apiVersion: object.apiVersion, kind: object.kind });
      }
      return made;
    },
    apply: async (object, options) => {
      const applied = await client.apply(object, options);
      const { apiVersion, kind } = object;
      if (applied.created && options?.dryRun !== true)
        note({ ...applied.object, apiVersion, kind });
      return applied;
    },
  };
}

/** The owner whose deletion is checked, and the objects that may outlive it. */
export interface LeftOverCheck {
  /** The object to delete, for example the custom resource. `assertNothingLeft` needs its UID if it is gone already. */
  readonly owner: ObjectReference;
  /** Objects that may outlive the owner, such as a backup. @defaultValue none */
  readonly keep?: ((object: UnstructuredObject) => boolean) | undefined;
}

/** Options of {@link assertNothingLeft}. */
export interface AssertNothingLeftOptions extends LeftOverCheck {
  /** The field `created` of the operator's client, made by {@link recordCreations}. */
  readonly created: readonly ObjectReference[];
  /** The time by the clock in which the objects have to go, in milliseconds. @defaultValue 60_000 */
  readonly timeoutMs?: number | undefined;
  /** The clock; a `VirtualClock` is advanced. @defaultValue the system clock */
  readonly clock?: Clock | undefined;
}

/**
 * Deletes the owner, and waits until all objects that the operator created for it are gone. Garbage collection or a
 * finalizer of the operator deletes them, so the operator has to keep running. Objects that are older than the owner or
 * that have other owners do not count.
 *
 * @example
 * ```ts
 * const operator = recordCreations(cluster().client({ user: 'operator' })); const { created } = operator; // … runs the
 * operator with that client, and waits until it has done its work … await assertNothingLeft(client, { owner:
 * referenceTo(shop), created, clock });
 * ```
 * @param client - a client of an administrator. It deletes the owner and reads the remaining objects.
 * @throws OperatorError `LeftOvers`: names the remaining objects, with the reason of each.
 * @throws OperatorError `InvalidOption`: there is nothing to check: nothing was recorded, or the owner does not exist
 * and has no UID.
 */
export async function assertNothingLeft(
  client: Client,
  options: AssertNothingLeftOptions,
): Promise<void> {
  const { owner, created, keep = () => false, timeoutMs = 60_000, clock = systemClock } = options;
  const resolved = { owner, created, keep, timeoutMs, clock };
  refuseUnknownOptions<AssertNothingLeftOptions>('assertNothingLeft', options, resolved);
  const name = describeObject(owner);
  if (created.length === 0) {
    const remedy = 'run the operator with the client of recordCreations';
    const message = `assertNothingLeft: created: no object of ${name} was recorded; ${remedy}`;
    throw new OperatorError('InvalidOption', message);
  }
  const deleted = await deleteOwner(client, owner);
  if (deleted.live === undefined && owner.uid === undefined) {
    const remedy = 'correct its name, or give its uid if it is gone already';
    const message = `assertNothingLeft: owner: ${name} does not exist; ${remedy}`;
    throw new OperatorError('InvalidOption', message);
  }
  let left: readonly string[] = [];
  const check = async (): Promise<void> => {
    left = await findLeftOvers(client, { deleted, created, keep });
    if (left.length > 0) throw new OperatorError('LeftOvers', left.join('; '));
  };
  try {
    await eventually(check, { timeoutMs, clock, intervalMs: 500 });
  } catch (error) {
    if (left.length === 0) throw error;
    const after = `${timeoutMs / 1_000} s after ${name} was deleted`;
    throw new OperatorError('LeftOvers', `${after}: ${left.join('; ')}`, { cause: error });
  }
}

/** A deleted owner, in its last state. */
export interface DeletedOwner {
  readonly reference: ObjectReference;
  /** The last state; undefined if the owner was gone before. */
  readonly live: UnstructuredObject | undefined;
}

/** Deletes the owner, if it exists. */
export async function deleteOwner(
  client: Client,
  reference: ObjectReference,
): Promise<DeletedOwner> {
  const live = await findObject(client, reference);
  if (live === undefined) return { reference, live };
  try {
    await client.delete(reference, reference, { propagationPolicy: 'Background' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return { reference, live };
}

/** Input of {@link findLeftOvers}. */
export interface LeftOverSearch {
  readonly deleted: DeletedOwner;
  readonly created: readonly ObjectReference[];
  readonly keep?: LeftOverCheck['keep'];
}

/** Describes the remaining objects (the owner, and objects that were created for it), with the reason of each. */
export async function findLeftOvers(
  client: Client,
  { deleted, created, keep = () => false }: LeftOverSearch,
): Promise<string[]> {
  const { reference, live: owner } = deleted;
  const uid = owner?.metadata.uid ?? reference.uid;
  const bornAt = owner?.metadata.creationTimestamp ?? '';
  const left: string[] = [];
  for (const each of [...(owner === undefined ? [] : [{ ...reference, uid }]), ...created]) {
    const live = await findObject(client, each);
    if (live === undefined || live.metadata.uid !== each.uid) continue;
    const isOlder = (live.metadata.creationTimestamp ?? '') < bornAt;
    const why = live.metadata.uid === uid ? heldBy(live) : reasonOf(live, { reference, uid });
    if (why !== undefined && !isOlder && !keep(live)) left.push(`${describeObject(each)} ${why}`);
  }
  return left;
}

/** Reads an object; undefined if it or its kind does not exist. */
export async function findObject(
  client: Client,
  reference: ObjectReference,
): Promise<UnstructuredObject | undefined> {
  try {
    return await client.get(reference, reference);
  } catch (error) {
    if (isNotFound(error) || isOperatorError(error, 'UnknownKind')) return undefined;
    throw error;
  }
}

/** Returns the reason why `object` outlives its owner; undefined if another owner needs it. */
function reasonOf(
  object: UnstructuredObject,
  { reference, uid }: Pick<DeletedOwner, 'reference'> & { readonly uid: string | undefined },
): string | undefined {
  const { deletionTimestamp, ownerReferences = [] } = object.metadata;
  const name = describeObject(reference);
  if (deletionTimestamp !== undefined) return heldBy(object);
  if (ownerReferences.length === 0) {
    return `is left: it has no reference to its owner ${name}, and no finalizer deleted it`;
  }
  const isOwned = uid !== undefined && ownerReferences.some((each) => each.uid === uid);
  return isOwned ? `is left, though it refers to its owner ${name}` : undefined;
}

function heldBy({ metadata: { finalizers = [] } }: UnstructuredObject): string {
  const held = finalizers.length === 0 ? '' : `: ${finalizers.join(', ')} holds it`;
  return `is still there${held}`;
}
