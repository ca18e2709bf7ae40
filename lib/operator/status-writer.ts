import isEqual from 'lodash/isEqual.js';
import { getIfExists } from '../client/get-if-exists.js';
import type { ReconcileContext } from '../controller/reconciler.js';
import { LruMap } from '../events/lru-map.js';
import { isNotFound } from '../object/api-error.js';
import { findCondition } from '../object/conditions.js';
import { describeObject } from '../object/describe-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { keyOf } from '../object/object-key.js';
import type { TypeReference } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';
import { ConditionClaims } from './condition-claims.js';
import { StatusGaps } from './status-gaps.js';
import { applyStatus, showsStatus, statusConditions, statusToApply } from './status.js';
import type { AppliedStatus, PatchStatusOptions, StatusUpdate } from './status.js';

/** What is known of the status of a kind. */
export interface PlannedStatus {
  /** Undefined: only the objects can tell. */
  readonly atomicConditions: boolean | undefined;
  readonly generation: boolean;
}

/** How a status is written. */
export interface StatusWriting {
  readonly context: ReconcileContext;
  readonly keepOthers: boolean;
  /** Whether the generation was reconciled. @defaultValue true */
  readonly isObserved?: boolean | undefined;
}

const rememberedWrites = 10_000;
/** A status write wakes every watcher of the object: a message that only counts on must not do so often. */
const messageIntervalMs = 5_000;

interface WriterPlan<T extends KubernetesObject> {
  readonly operatorName: string;
  readonly type: TypeReference<T>;
  readonly status: PlannedStatus | undefined;
}

/** The last status write of an object. */
interface StatusWrite {
  readonly atMs: number;
  /** What was sent, and is not answered yet. */
  readonly sent?: object | undefined;
  readonly resourceVersion?: string | undefined;
  /** What was sent and what is stored, where the server changed it: by defaults of the schema. */
  readonly changed?: { readonly sent: object; readonly stored: object } | undefined;
}

/** Writes the status of the objects of one kind, and knows its own writes again. */
export class StatusWriter<T extends KubernetesObject> {
  readonly #plan: WriterPlan<T>;
  readonly #claims: ConditionClaims;
  readonly #gaps = new StatusGaps();
  /** The last status write of each object, by uid. */
  readonly #written = new LruMap<string, StatusWrite>(rememberedWrites);

  constructor(plan: WriterPlan<T>) {
    this.#plan = plan;
    this.#claims = new ConditionClaims(plan.operatorName);
  }

  /**
   * Whether all that changed from `old` to `object` is the status that this process wrote: no reason to
   * reconcile. The resourceVersion of the answer says so; where the watch is faster than the answer, the
   * status that was sent does.
   */
  isOwnWrite(old: T, object: T): boolean {
    const last = this.#written.get(object.metadata.uid ?? '');
    if (last === undefined) return false;
    const { sent, resourceVersion } = last;
    const isOurs =
      resourceVersion === object.metadata.resourceVersion ||
      (sent !== undefined && showsStatus(object, sent) && !showsStatus(old, sent));
    const manager = this.#plan.operatorName;
    return isOurs && isEqual(besideStatus(old, manager), besideStatus(object, manager));
  }

  /** @returns milliseconds after which a changed message may be written; undefined: nothing is left */
  async write(object: T, wanted: StatusUpdate, how: StatusWriting): Promise<number | undefined> {
    const { status, operatorName: fieldManager } = this.#plan;
    if (status === undefined) return undefined;
    const { context, keepOthers, isObserved = true } = how;
    const own = this.#claims.own(object, wanted.conditions ?? [], context.logger);
    const update = { ...wanted, conditions: own.conditions };
    const { clock, signal } = context;
    const { generation } = object.metadata;
    const waitMs = this.#messageWaitMs(object, update, clock.monotonicMs());
    if (waitMs > 0) return waitMs;
    const observed = status.generation && isObserved && generation !== undefined;
    const fields = { ...update.fields, ...(observed && { observedGeneration: generation }) };
    const { atomicConditions } = status;
    const options = { fieldManager, keepOthers, atomicConditions, clock, signal };
    const applied = statusToApply(object, this.#gaps.without({ ...update, fields }), options);
    const changed = this.#written.get(object.metadata.uid ?? '')?.changed;
    const isStored =
      changed !== undefined &&
      isEqual(changed.sent, applied?.status) &&
      showsStatus(object, changed.stored);
    if (applied === undefined || isStored) return undefined;
    try {
      await this.#send(object, applied, { ...options, context });
    } catch (error) {
      if (!this.#gaps.found(error)) throw error;
      const left = await this.write(object, wanted, how);
      this.#gaps.warn(object, context.logger);
      return left;
    }
    own.written();
    return undefined;
  }

  async #send(
    object: T,
    applied: AppliedStatus,
    { context, ...options }: PatchStatusOptions & { readonly context: ReconcileContext },
  ): Promise<void> {
    const { client, clock } = context;
    const { uid = '' } = object.metadata;
    const before = this.#written.get(uid);
    let next = before;
    this.#written.set(uid, { atMs: -Infinity, ...before, sent: applied.status });
    try {
      const answer = await applyStatus(client, applied, options);
      const { resourceVersion } = answer.metadata;
      next = { atMs: clock.monotonicMs(), resourceVersion, changed: changedBy(applied, answer) };
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // Deleted meanwhile: there is no status to write.
      if (await this.#isThere(object, context)) throw noSubresource(object, error);
    } finally {
      if (next === undefined) this.#written.delete(uid);
      else this.#written.set(uid, next);
    }
  }

  async #isThere(object: T, { client, signal }: ReconcileContext): Promise<boolean> {
    const live = await getIfExists(client.live, this.#plan.type, keyOf(object), { signal });
    return live?.metadata.uid === object.metadata.uid;
  }

  /** How long a write has to wait that changes only messages, in milliseconds. */
  #messageWaitMs(object: T, { conditions = [], fields = {} }: StatusUpdate, nowMs: number): number {
    const last = this.#written.get(object.metadata.uid ?? '');
    if (last === undefined || Object.keys(fields).length > 0) return 0;
    const live = statusConditions(object);
    const updates = conditions.map((update) => [update, findCondition(live, update.type)] as const);
    const isSameState = updates.every(
      ([update, current]) =>
        current !== undefined &&
        (['status', 'reason', 'observedGeneration'] as const).every(
          (field) => update[field] === current[field],
        ),
    );
    const hasNewMessage = updates.some(([{ message = '' }, old]) => message !== old?.message);
    return isSameState && hasNewMessage ? last.atMs + messageIntervalMs - nowMs : 0;
  }
}

/** An object without what a status write of `manager` changes. */
function besideStatus(object: KubernetesObject, manager: string): object {
  const { metadata } = object;
  const managedFields = (metadata.managedFields ?? []).filter(
    (entry) => entry.manager !== manager || entry.subresource !== 'status',
  );
  return {
    ...object,
    status: undefined,
    metadata: { ...metadata, resourceVersion: '', managedFields },
  };
}

function changedBy({ status: sent }: AppliedStatus, answer: KubernetesObject) {
  if (showsStatus(answer, sent)) return undefined;
  const { status = {} } = answer as { readonly status?: object };
  const stored = Object.entries(status).filter(([name]) => Object.hasOwn(sent, name));
  return { sent, stored: Object.fromEntries(stored) };
}

function noSubresource(object: KubernetesObject, cause: unknown): OperatorError {
  const problem = 'the server has no subresource status for the kind';
  const remedy = 'add it to the CRD, or give for(…) the option status: false';
  const message = `status of ${describeObject(object)}: ${problem}; ${remedy}`;
  return new OperatorError('InvalidOption', message, { cause });
}
