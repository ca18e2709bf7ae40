import { getIfExists } from '../../client/get-if-exists.js';
import { isStaleWrite } from '../../client/retry-on-conflict.js';
import { LruMap } from '../../events/lru-map.js';
import { isForbidden } from '../../object/api-error.js';
import { findCondition } from '../../object/conditions.js';
import type { Condition, ConditionUpdate } from '../../object/conditions.js';
import { describeObject } from '../../object/describe-object.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import type { Cancellation } from '../resource-context.js';
import { describeKeepers } from './describe-keepers.js';
import { conditionsOf } from './object-conditions.js';
import type { ConditionWriting, ObjectConditions } from './object-conditions.js';
import type { StatedObject } from './object-state.js';
import type { ResolvedFrameworkOptions } from './resolve-framework-options.js';

/** Result of a reconcile, as the condition shows it. */
export type Readiness = Pick<ConditionUpdate, 'status' | 'reason' | 'message'>;

type Options<T extends KubernetesObject> = Pick<
  ResolvedFrameworkOptions<T>,
  'name' | 'type' | 'clock' | 'readyCondition'
>;

/** The last write for an object. */
interface Written extends Readiness {
  readonly generation: number | undefined;
  readonly atMs: number;
  /** Consecutive writes that replaced a value of another writer. */
  readonly replaced: number;
}

const longestMessage = 1_000;
const remembered = 10_000;
/** A status write wakes the controller: a message that changes in each reconcile must not do so. */
const messageIntervalMs = 5_000;
const contestMs = 60_000;
const mostReplaced = 2;

/**
 * Writes the condition that shows whether an object is reconciled. Another writer of the same condition
 * wins: each write wakes the other one, so the framework stops after a few and logs a remedy.
 */
export class ReadyCondition<T extends KubernetesObject> {
  readonly #options: Options<T>;
  readonly #conditions: ObjectConditions<T>;
  readonly #written = new LruMap<string, Written>(remembered);
  #isContested = false;

  constructor(options: Options<T>, conditions: ObjectConditions<T>) {
    this.#options = options;
    this.#conditions = conditions;
  }

  /**
   * Writes `readiness` where it differs from what the object shows.
   * @returns milliseconds after which a changed message may be written; undefined: nothing is left
   * @throws ApiError the write failed, other than by a missing right.
   */
  async set(stated: StatedObject<T>, readiness: Readiness): Promise<number | undefined> {
    const { readyCondition: type, clock } = this.#options;
    if (type === false || this.#isContested) return undefined;
    const { object, id, pass } = stated;
    const message = (readiness.message ?? '').slice(0, longestMessage);
    const { generation } = object.metadata;
    // A ConfigMap has none.
    const observed = generation === undefined ? {} : { observedGeneration: generation };
    const update: ConditionUpdate = { type, ...readiness, message, ...observed };
    const current = findCondition(conditionsOf(object), type);
    const before = this.#written.get(id);
    const isSame = current?.status === update.status && current.reason === update.reason;
    const isObserved = isObservedIn(current, before, generation);
    if (isSame && isObserved && current.message === message) return undefined;
    const nowMs = clock.monotonicMs();
    const sinceMs = before === undefined ? Infinity : nowMs - before.atMs;
    const isForeign = before !== undefined && current !== undefined && !isOf(before, current);
    if (isSame && isObserved && !isForeign && sinceMs < messageIntervalMs) {
      return messageIntervalMs - sinceMs;
    }
    const replaced = isForeign && sinceMs < contestMs ? before.replaced + 1 : 0;
    if (replaced > mostReplaced) {
      this.#leave(type, object, pass);
      return;
    }
    this.#written.set(id, { ...readiness, message, generation, atMs: nowMs, replaced });
    await this.#write(object, update, pass);
    return undefined;
  }

  async #write(object: T, update: ConditionUpdate, writing: ConditionWriting): Promise<void> {
    const { client, signal, logger } = writing;
    try {
      await this.#conditions.set(object, update, writing);
    } catch (error) {
      if (isForbidden(error)) {
        logger.warn(`condition ${update.type}: not written, a right is missing`, { error });
        return;
      }
      if (!isStaleWrite(error)) throw error;
      // A resource of the chain may have written to the object meanwhile.
      const live = await getIfExists(client.live ?? client, this.#options.type, keyOf(object), {
        signal,
      });
      if (live?.metadata.uid !== object.metadata.uid || live === undefined) return;
      if (live.metadata.generation !== object.metadata.generation) throw error;
      await this.#conditions.set(live, update, writing);
    }
  }

  #leave(type: string, object: T, { logger }: ConditionWriting): void {
    this.#isContested = true;
    const remedy = 'set readyCondition to another type, or to false';
    const text = `framework ${this.#options.name}: another writer sets the condition ${type} of`;
    logger.warn(`${text} ${describeObject(object)}, it is left alone; ${remedy}`);
  }
}

function isObservedIn(
  current: Condition | undefined,
  before: Written | undefined,
  generation: number | undefined,
): boolean {
  const { observedGeneration } = current ?? {};
  // A schema may drop the field: the framework remembers what it wrote.
  const known = observedGeneration ?? before?.generation;
  return known === generation;
}

function isOf(written: Readiness, { status, reason, message }: Readiness): boolean {
  return written.status === status && written.reason === reason && written.message === message;
}

/** The result of a chain that ended without an error. */
export function readinessOf(
  waiting: readonly Cancellation[],
  notStarted: readonly string[],
): Readiness {
  if (waiting.length === 0) {
    return { status: 'True', reason: 'Reconciled', message: 'all resources are as desired' };
  }
  const rest = notStarted.length === 0 ? '' : `; not started: ${notStarted.join(', ')}`;
  const message = `waits for ${describeKeepers(waiting)}${rest}`;
  return { status: 'False', reason: 'Waiting', message };
}
