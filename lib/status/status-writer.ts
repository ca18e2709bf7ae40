import isEqual from 'lodash/isEqual.js';
import type { Client } from '../client/client.js';
import { getIfExists } from '../client/get-if-exists.js';
import { LruMap } from '../system/lru-map.js';
import { isInvalid, isNotFound } from '../object/api-error.js';
import { findCondition } from '../object/conditions.js';
import type { Condition } from '../object/conditions.js';
import { describeObject } from '../object/describe-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { keyOf } from '../object/object-key.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import { OperatorError } from '../system/operator-error.js';
import { ConditionClaims } from './condition-claims.js';
import { mergeStatus } from './merge-status.js';
import { StatusGaps } from './status-gaps.js';
import {
  applyStatus,
  showsStatus,
  statusConditions,
  statusToApply,
  statusToMerge,
} from './status.js';
import type { StatusUpdate } from './status.js';

/** Options of a {@link StatusWriter}. */
export interface StatusWriterOptions<T extends KubernetesObject> {
  readonly type: TypeReference<T>;
  /** Owner of the written fields. */
  readonly fieldManager: string;
  /**
   * `apply`: server-side apply; a kind without the subresource status is an error. `merge`: a merge patch
   * that the resourceVersion guards, for objects whose status others apply under the same name; a kind
   * or an object that keeps no conditions gets none, and a condition that another writer replaces again
   * and again is left to it.
   */
  readonly strategy: 'apply' | 'merge';
  /** As in {@link PatchStatusOptions}. */
  readonly atomicConditions?: boolean | undefined;
  /** Whether the status has the field `observedGeneration`. */
  readonly generation: boolean;
  /** Fields, as `list[].field`, that a schema may lack: then the rest is written. @defaultValue none */
  readonly optional?: readonly string[] | undefined;
  /** The remedy that a warning about a contested condition names. */
  readonly remedy: string;
}

/** How a status is written. */
export interface StatusWriting {
  readonly context: {
    readonly client: Client & { readonly live?: Client };
    readonly clock: Clock;
    readonly logger: Logger;
    readonly signal: AbortSignal;
  };
  /** As in {@link PatchStatusOptions}; a merge patch keeps all others. @defaultValue false */
  readonly keepOthers?: boolean | undefined;
  /**
   * Whether it reports a reconcile of the generation: then a message that alone changes may have to wait.
   * @defaultValue true
   */
  readonly isObserved?: boolean | undefined;
}

/** The result of a write. */
export interface WrittenStatus<T> {
  /** As it is now; the given object where nothing was sent. */
  readonly object: T;
  /** Milliseconds after which a changed message may be written; undefined: nothing is left. */
  readonly waitMs?: number | undefined;
}

const rememberedWrites = 10_000;
/** A status write wakes every watcher of the object: a message that only counts on must not do so often. */
const messageIntervalMs = 5_000;

/** The last status write of an object. */
interface StatusWrite {
  readonly atMs: number;
  /** What was sent, and is not answered yet. */
  readonly sent?: object | undefined;
  readonly resourceVersion?: string | undefined;
  /** What was sent and what is stored, where the server changed it: by defaults of the schema. */
  readonly changed?: { readonly sent: object; readonly stored: object } | undefined;
}

/** A status that is to be sent. */
interface PreparedStatus<T> {
  readonly status: object;
  readonly send: () => Promise<T>;
}

/** Writes the status of the objects of one kind, and knows its own writes again. */
export class StatusWriter<T extends KubernetesObject> {
  readonly #options: StatusWriterOptions<T>;
  readonly #claims: ConditionClaims;
  readonly #gaps: StatusGaps;
  /** The last status write of each object, by uid. */
  readonly #written = new LruMap<string, StatusWrite>(rememberedWrites);

  constructor(options: StatusWriterOptions<T>) {
    this.#options = options;
    this.#claims = new ConditionClaims(options);
    this.#gaps = new StatusGaps(options.optional);
  }

  /** Whether the object keeps conditions, as far as is known. */
  keeps(object: T): boolean {
    return this.#gaps.keeps(object);
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
    const manager = this.#options.fieldManager;
    return isOurs && isEqual(besideStatus(old, manager), besideStatus(object, manager));
  }

  /** Writes what differs from the status of `object`. */
  async write(object: T, wanted: StatusUpdate, how: StatusWriting): Promise<WrittenStatus<T>> {
    if (!this.keeps(object)) return { object };
    const { context, isObserved = true } = how;
    const { clock, logger } = context;
    const nowMs = clock.monotonicMs();
    const last = this.#written.get(object.metadata.uid ?? '');
    const own = this.#claims.own(object, wanted.conditions ?? [], { logger, nowMs, isObserved });
    const update = { ...wanted, conditions: own.conditions };
    const waitMs = isObserved ? messageWaitMs(object, update, { last, nowMs }) : 0;
    if (waitMs > 0) return { object, waitMs };
    const { generation } = object.metadata;
    const observed = this.#options.generation && isObserved && generation !== undefined;
    const fields = { ...update.fields, ...(observed && { observedGeneration: generation }) };
    const toWrite = this.#gaps.without({ ...update, fields });
    const prepared = this.#prepared(object, toWrite, how);
    const changed = last?.changed;
    const isStored =
      changed !== undefined &&
      isEqual(changed.sent, prepared?.status) &&
      showsStatus(object, changed.stored);
    if (prepared === undefined || isStored) return { object };
    try {
      const sent = await this.#send(object, prepared, context);
      own.written();
      return { object: sent };
    } catch (error) {
      if (!this.#gaps.found(error)) throw error;
      const again = await this.write(object, wanted, how);
      this.#gaps.warn(object, logger);
      return again;
    }
  }

  /** The status to be sent; undefined: the object shows it. */
  #prepared(object: T, update: StatusUpdate, how: StatusWriting): PreparedStatus<T> | undefined {
    const { strategy, type, fieldManager, atomicConditions } = this.#options;
    const { client, clock, signal } = how.context;
    if (strategy === 'apply') {
      const { keepOthers } = how;
      const options = { fieldManager, keepOthers, atomicConditions, clock, signal };
      const applied = statusToApply(object, update, options);
      if (applied === undefined) return undefined;
      const send = async (): Promise<T> => (await applyStatus(client, applied, options)) as T;
      return { status: applied.status, send };
    }
    const statusFor = (now: T): object | undefined => statusToMerge(now, update, clock);
    const status = statusFor(object);
    if (status === undefined) return undefined;
    const patch = (now: T): object | undefined => {
      const next = statusFor(now);
      return next === undefined ? undefined : { status: next };
    };
    // What is said of a pause depends on what the object showed.
    const stands = (): boolean => how.isObserved !== false;
    const merge = { type, patch, stands, subresource: 'status' };
    return { status, send: () => mergeStatus(object, merge, { client, signal }) };
  }

  async #send(
    object: T,
    { status, send }: PreparedStatus<T>,
    context: StatusWriting['context'],
  ): Promise<T> {
    const { uid = '' } = object.metadata;
    const before = this.#written.get(uid);
    let next = before;
    this.#written.set(uid, { atMs: -Infinity, ...before, sent: status });
    try {
      const answer = await send();
      const { resourceVersion } = answer.metadata;
      const changed = changedBy(status, answer);
      next = { atMs: context.clock.monotonicMs(), resourceVersion, changed };
      this.#noteDropped(answer, status, context.logger);
      return answer;
    } catch (error) {
      await this.#explain(object, error, context);
      return object;
    } finally {
      if (next === undefined) this.#written.delete(uid);
      else this.#written.set(uid, next);
    }
  }

  /** A merge patch does not fail where the schema has no conditions: the server drops them. */
  #noteDropped(answer: T, status: object, logger: Logger): void {
    const isDropped = 'conditions' in status && statusConditions(answer).length === 0;
    if (!isDropped || this.#options.strategy === 'apply') return;
    this.#gaps.giveUp(answer, 'its schema has no conditions', logger);
  }

  /** @throws the error, or one that explains it, unless the status can do without the write. */
  async #explain(object: T, error: unknown, context: StatusWriting['context']): Promise<void> {
    const isOptional = this.#options.strategy === 'merge';
    if (isOptional && isInvalid(error)) this.#gaps.refused(object, error, context.logger);
    else if (!isNotFound(error)) throw error;
    else if (await this.#isThere(object, context)) {
      if (!isOptional) throw noSubresource(object, error);
      this.#gaps.giveUp(object, 'it has no status subresource', context.logger);
    } else if (isOptional) throw error;
    // Else it was deleted meanwhile: there is no status to write.
  }

  async #isThere(object: T, { client, signal }: StatusWriting['context']): Promise<boolean> {
    const live = client.live ?? client;
    const now = await getIfExists(live, this.#options.type, keyOf(object), { signal });
    return now?.metadata.uid === object.metadata.uid;
  }
}

/** How long a report has to wait that changes only messages, in milliseconds. */
function messageWaitMs(
  object: KubernetesObject,
  { conditions = [], fields = {} }: StatusUpdate,
  { last, nowMs }: { readonly last: StatusWrite | undefined; readonly nowMs: number },
): number {
  if (last === undefined || Object.keys(fields).length > 0) return 0;
  const live = statusConditions(object);
  const { conditions: sent } = (last.changed?.sent ?? {}) as { conditions?: readonly Condition[] };
  const updates = conditions.map((update) => {
    const current = findCondition(live, update.type);
    // A schema may drop the field.
    const generation =
      current?.observedGeneration ?? findCondition(sent, update.type)?.observedGeneration;
    return { update, current, generation };
  });
  const isSameState = updates.every(
    ({ update, current, generation }) =>
      current?.status === update.status &&
      current.reason === update.reason &&
      generation === update.observedGeneration,
  );
  const hasNewMessage = updates.some(
    ({ update, current }) => (update.message ?? '') !== current?.message,
  );
  return isSameState && hasNewMessage ? last.atMs + messageIntervalMs - nowMs : 0;
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

function changedBy(sent: object, answer: KubernetesObject): StatusWrite['changed'] {
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
