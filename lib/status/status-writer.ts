import omit from 'lodash/omit.js';
import type { Client } from '../client/index.js';
import { getIfExists } from '../client/index.js';
import {
  isApiError,
  isDenied,
  isInvalid,
  isNotFound,
  conditionTexts,
  findCondition,
  deepEqual,
  describeObject,
  isJsonObject,
  keyOf,
} from '../object/index.js';
import type { Condition, KubernetesObject, TypeReference } from '../object/index.js';
import type { Clock, Logger } from '../system/index.js';
import { LruMap, OperatorError, isOperatorError } from '../system/index.js';
import { ConditionClaims } from './condition-claims.js';
import {
  applyStatus,
  mergeStatus,
  showsStatus,
  statusConditions,
  statusToApply,
  statusToMerge,
} from './status.js';
import type { StatusUpdate } from './status.js';

/** Options of a {@link StatusWriter}. */
export interface StatusWriterOptions<T extends KubernetesObject> {
  readonly type: TypeReference<T>;
  /** The field manager of the status. */
  readonly fieldManager: string;
  /**
   * `apply`: server-side apply; a kind without the subresource status is an error. `merge`: a merge patch
   * guarded by the resourceVersion, for objects whose status others apply under the same name. It skips kinds
   * and objects that keep no conditions, and conditions that another writer replaces repeatedly.
   */
  readonly strategy: 'apply' | 'merge';
  /** See `PatchStatusOptions`. */
  readonly atomicConditions?: boolean | undefined;
  /** True if the status has the field `observedGeneration`. */
  readonly generation: boolean;
  /**
   * Fields, as `list[].field`, that the schema of the kind may lack. If it does, the writer leaves them out.
   * @defaultValue none
   */
  readonly optional?: readonly string[] | undefined;
  /** The remedy in warnings about a contested condition. */
  readonly remedy: string;
}

/** Circumstances of a status write. */
export interface StatusWriting {
  readonly context: {
    readonly client: Client & { readonly live?: Client };
    readonly clock: Clock;
    readonly logger: Logger;
    readonly signal: AbortSignal;
  };
  /** See `PatchStatusOptions`; a merge patch keeps all others. @defaultValue false */
  readonly keepOthers?: boolean | undefined;
  /**
   * True if the write reports a reconcile of the generation. A write that only changes messages may have to
   * wait then.
   * @defaultValue true
   */
  readonly isObserved?: boolean | undefined;
}

/** The result of a write. */
export interface WrittenStatus<T> {
  /** The current object; the given one if nothing was sent. */
  readonly object: T;
  /** Milliseconds until a changed message may be written; undefined if nothing remains to write. */
  readonly waitMs?: number | undefined;
}

const rememberedWrites = 10_000;
/** Minimum interval of writes that only change messages: each write sends an event to all watchers of the object. */
const messageIntervalMs = 5_000;

/** The last status write of an object. */
interface StatusWrite {
  readonly atMs: number;
  /** The status of a request that is still unanswered. */
  readonly sent?: object | undefined;
  readonly resourceVersion?: string | undefined;
  /** The sent and the stored status, if the server changed it by defaults of the schema. */
  readonly changed?: { readonly sent: object; readonly stored: object } | undefined;
}

interface PreparedStatus<T> {
  readonly status: object;
  readonly send: () => Promise<T>;
}

/** Writes the status of the objects of one kind, and recognizes its own writes. */
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

  /** Returns true if the object keeps conditions, as far as is known. */
  keeps(object: T): boolean {
    return this.#gaps.keeps(object);
  }

  /**
   * Returns true if `old` and `object` differ only in a status that this process wrote, so that no reconcile
   * is needed. It compares the resourceVersion of the server's answer. If the watch event arrives before the
   * answer, it compares the status that was sent.
   */
  isOwnWrite(old: T, object: T): boolean {
    const last = this.#written.get(object.metadata.uid ?? '');
    if (last === undefined) return false;
    const { sent, resourceVersion } = last;
    const isOurs =
      resourceVersion === object.metadata.resourceVersion ||
      (sent !== undefined && showsStatus(object, sent) && !showsStatus(old, sent));
    const manager = this.#options.fieldManager;
    return isOurs && deepEqual(besideStatus(old, manager), besideStatus(object, manager));
  }

  /** Writes the differences from the status of `object`. */
  async write(object: T, wanted: StatusUpdate, how: StatusWriting): Promise<WrittenStatus<T>> {
    if (!this.keeps(object)) return { object };
    const { context, isObserved = true } = how;
    const { clock, logger } = context;
    const nowMs = clock.monotonicMs();
    const last = this.#written.get(object.metadata.uid ?? '');
    // Compare the texts as they will be stored: a text that is too long is cut.
    const conditions = wanted.conditions?.map((each) => ({ ...each, ...conditionTexts(each) }));
    const own = this.#claims.own(object, conditions ?? [], { logger, nowMs, isObserved });
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
      deepEqual(changed.sent, prepared?.status) &&
      showsStatus(object, changed.stored);
    if (prepared === undefined || isStored) return { object };
    try {
      const sent = await this.#send(object, prepared, context);
      own.written(sent);
      return { object: sent };
    } catch (error) {
      if (!this.#gaps.found(error)) throw error;
      const again = await this.write(object, wanted, how);
      this.#gaps.warn(object, logger);
      return again;
    }
  }

  /** Returns the status to send; undefined if the object already shows it. */
  #prepared(object: T, update: StatusUpdate, how: StatusWriting): PreparedStatus<T> | undefined {
    const { strategy, type, fieldManager, atomicConditions } = this.#options;
    const { client, clock, signal } = how.context;
    if (strategy === 'apply') {
      const { keepOthers } = how;
      const options = { type, fieldManager, keepOthers, atomicConditions, clock, signal };
      const toApply = (now: KubernetesObject) => statusToApply(now, update, options);
      const applied = toApply(object);
      if (applied === undefined) return undefined;
      const send = async (): Promise<T> =>
        (await applyStatus(client, { object, applied, toApply }, options)) as T;
      return { status: applied.object.status, send };
    }
    const statusFor = (now: T): object | undefined => statusToMerge(now, update, clock);
    const status = statusFor(object);
    if (status === undefined) return undefined;
    const patch = (now: T): object | undefined => {
      const next = statusFor(now);
      return next === undefined ? undefined : { status: next };
    };
    // An update that does not report a reconcile, such as a pause, must not be written to an object that has changed
    // since it was read.
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

  /**
   * Detects dropped conditions: without them in the schema, the server drops them from a merge patch
   * silently.
   */
  #noteDropped(answer: T, status: object, logger: Logger): void {
    const isDropped = 'conditions' in status && statusConditions(answer).length === 0;
    if (!isDropped || this.#options.strategy === 'apply') return;
    this.#gaps.giveUp(answer, 'its schema has no conditions', logger);
  }

  /**
   * Handles the error of a status write. With the strategy `merge`, a status that the server can't store is
   * logged and not written again; one that a webhook or a policy refuses is tried again by the next reconcile.
   * @throws the error, or one that explains it, in all other cases, except for a deleted object of the
   * strategy `apply`
   */
  async #explain(object: T, error: unknown, context: StatusWriting['context']): Promise<void> {
    const isOptional = this.#options.strategy === 'merge';
    const isRefused = isInvalid(error) || isOperatorError(error, 'Terminal');
    if (isOptional && isRefused) this.#gaps.refused(object, error, context.logger);
    else if (!isNotFound(error)) throw error;
    else if (await this.#isThere(object, context)) {
      if (!isOptional) throw noSubresource(object, error);
      this.#gaps.giveUp(object, 'it has no status subresource', context.logger);
    } else if (isOptional) throw error;
    // Otherwise the object was deleted meanwhile: there is no status to write.
  }

  async #isThere(object: T, { client, signal }: StatusWriting['context']): Promise<boolean> {
    const live = client.live ?? client;
    const now = await getIfExists(live, this.#options.type, keyOf(object), { signal });
    return now?.metadata.uid === object.metadata.uid;
  }
}

/** Returns how long a report that only changes messages has to wait, in milliseconds. */
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
    // The server drops fields of a condition that the schema lacks: compare with the sent ones.
    const own = findCondition(sent, update.type);
    const generation = current?.observedGeneration ?? own?.observedGeneration;
    return { update, current, generation, message: current?.message ?? own?.message };
  });
  const isSameState = updates.every(
    ({ update, current, generation }) =>
      current?.status === update.status &&
      current.reason === update.reason &&
      generation === update.observedGeneration,
  );
  const hasNewMessage = updates.some(({ update, message }) => (update.message ?? '') !== message);
  return isSameState && hasNewMessage ? last.atMs + messageIntervalMs - nowMs : 0;
}

/** Returns the object without the parts that a status write of `manager` changes. */
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

function statusIn(object: KubernetesObject): unknown {
  return (object as { readonly status?: unknown }).status;
}

/** The status fields that an operator writes by itself. */
const ownFields = ['observedGeneration', 'conditions', 'conditions[].observedGeneration'];

const rememberedRefusals = 1_000;

/**
 * Status fields that the schema of a kind lacks, learned from the server's refusals. The other fields are
 * written without them.
 */
class StatusGaps {
  readonly #optional: readonly string[];
  readonly #missing = new Set<string>();
  readonly #unsaid: string[] = [];
  /**
   * By uid of an object: the status for which the server refused the conditions of the operator. The conditions are
   * sent again when that status has changed.
   */
  readonly #refused = new LruMap<string, { readonly status: unknown }>(rememberedRefusals);
  #isKept = true;

  /** @param optional - further fields that a schema may lack, as `list[].field`. */
  constructor(optional: readonly string[] = []) {
    this.#optional = [...ownFields, ...optional];
  }

  /** Returns true if the object keeps conditions, as far as is known. */
  keeps(object: KubernetesObject): boolean {
    if (!this.#isKept) return false;
    const refused = this.#refused.get(object.metadata.uid ?? '');
    return refused === undefined || !deepEqual(refused.status, statusIn(object));
  }

  /** Records that objects of the kind keep no conditions. */
  giveUp({ kind }: KubernetesObject, why: string, logger: Logger): void {
    this.#isKept = false;
    logger.info(`${kind} keeps no conditions, ${why}: see the events and the log instead`);
  }

  /** Records that the server refuses the operator's conditions together with the present status of the object. */
  refused(object: KubernetesObject, error: unknown, logger: Logger): void {
    if (!isApiError(error) || !isDenied(error)) {
      this.#refused.set(object.metadata.uid ?? '', { status: statusIn(object) });
    }
    logger.warn('a condition cannot be written: see the events and the log instead', { error });
  }

  /** Returns `update` without the fields that the schema lacks. */
  without(update: StatusUpdate): StatusUpdate {
    if (this.#missing.size === 0) return update;
    const paths = [...this.#missing].map((field) => field.replaceAll('[]', '').split('.'));
    const status = { ...update.fields, conditions: update.conditions ?? [] };
    const { conditions, ...fields } = paths.reduce<StatusFields>(withoutPath, status);
    return { conditions: conditions ?? [], fields };
  }

  /** Records the missing fields that `error` names. Returns true if there are new ones. */
  found(error: unknown): boolean {
    const found = undeclaredIn(error, this.#optional).filter((field) => !this.#missing.has(field));
    for (const field of found) this.#missing.add(field);
    this.#unsaid.push(...found);
    return found.length > 0;
  }

  /** Warns about the fields found since the last call. The server names one field at a time. */
  warn({ kind }: KubernetesObject, logger: Logger): void {
    const fields = this.#unsaid.splice(0).map((field) => `status.${field}`);
    if (fields.length === 0) return;
    const problem = `the schema of ${kind} has no ${fields.sort().join(' and ')}`;
    const remedy = 'give its version the status s.status(), apply the CRD, and start again';
    logger.warn(`${problem}: the rest of the status is written; ${remedy}`);
  }
}

function undeclaredIn(error: unknown, optional: readonly string[]): readonly string[] {
  if (!isApiError(error)) return [];
  const paths = [...error.message.matchAll(/\.status(\S*): field not declared in schema/g)];
  const fields = paths.map(([, path = '']) =>
    path.replaceAll(/\[[^\]]*\]/g, '[]').replace(/^\./, ''),
  );
  // A schema without status has none of these fields.
  if (fields.includes('')) return ['observedGeneration', 'conditions'];
  const own = optional.filter((field) => fields.includes(field));
  const isOther = (field: string): boolean =>
    field.startsWith('conditions') && !optional.includes(field);
  return fields.some(isOther) ? [...own, 'conditions'] : own;
}

type StatusFields = Readonly<Record<string, unknown>> & Pick<StatusUpdate, 'conditions'>;

/** Returns `value` without the field at `path`, in each element of the lists on the way. */
function withoutPath<T>(value: T, path: readonly string[]): T {
  const [name = '', ...rest] = path;
  if (Array.isArray(value)) return value.map((each: unknown) => withoutPath(each, path)) as T;
  if (!isJsonObject(value) || !(name in value)) return value;
  if (rest.length === 0) return omit(value, name) as T;
  return { ...value, [name]: withoutPath(value[name], rest) };
}
