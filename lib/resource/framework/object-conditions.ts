import type { Client } from '../../client/client.js';
import { getIfExists } from '../../client/get-if-exists.js';
import { LruMap } from '../../events/lru-map.js';
import { isInvalid, isNotFound } from '../../object/api-error.js';
import { findCondition, setCondition } from '../../object/conditions.js';
import type { Condition, ConditionUpdate } from '../../object/conditions.js';
import { isJsonObject } from '../../object/json.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import type { TypeReference } from '../../object/resource-type.js';
import type { Clock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';

/** What a write of a condition needs. */
export interface ConditionWriting {
  readonly client: Client & { readonly live?: Client };
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

interface Written {
  readonly conditions: readonly Condition[];
  /** Written to the status, too, where a condition of the whole object has it. */
  readonly observedGeneration: number | undefined;
}

const remembered = 1_000;

/**
 * Writes conditions of the objects of a kind, where these keep any: a kind may have no status, or a
 * schema without conditions. That is found out by the first write, and nothing is written any more.
 */
export class ObjectConditions<T extends KubernetesObject> {
  readonly #type: TypeReference<T>;
  readonly #clock: Clock;
  readonly #refused = new LruMap<string, true>(remembered);
  #isKept = true;

  constructor(type: TypeReference<T>, clock: Clock) {
    this.#type = type;
    this.#clock = clock;
  }

  /** Whether the object keeps conditions, as far as is known. */
  keeps({ metadata: { uid = '' } }: T): boolean {
    return this.#isKept && this.#refused.get(uid) === undefined;
  }

  /**
   * Sets a condition, guarded by the object's resourceVersion.
   * @returns the object as it is now
   * @throws ApiError 409: it has changed since it was read.
   */
  async set(object: T, update: ConditionUpdate, writing: ConditionWriting): Promise<T> {
    if (!this.keeps(object)) return object;
    const before = conditionsOf(object);
    const conditions = setCondition(before, update, this.#clock);
    if (conditions === before) return object;
    try {
      const { observedGeneration } = update;
      const written = await this.#write(object, { conditions, observedGeneration }, writing);
      if (findCondition(conditionsOf(written), update.type) === undefined) {
        this.#giveUp('its schema has no conditions', writing.logger);
      }
      return written;
    } catch (error) {
      if (await this.#isRefusal(object, error, writing)) return object;
      throw error;
    }
  }

  async #write(
    object: T,
    { conditions, observedGeneration }: Written,
    { client, signal }: ConditionWriting,
  ): Promise<T> {
    const { uid, resourceVersion } = object.metadata;
    const generation = observedGeneration === undefined ? {} : { observedGeneration };
    const status = { ...generation, conditions };
    const body = { metadata: { uid, resourceVersion }, status };
    const patch = { type: 'merge', body } as const;
    return client.patch(this.#type, keyOf(object), patch, { subresource: 'status', signal });
  }

  async #isRefusal(object: T, error: unknown, writing: ConditionWriting): Promise<boolean> {
    const { client, signal, logger } = writing;
    if (isInvalid(error)) {
      this.#refused.set(object.metadata.uid ?? '', true);
      logger.warn('a condition can not be written: events and log tell instead', { error });
      return true;
    }
    if (!isNotFound(error)) return false;
    // Either there is no such subresource, or no such object any more.
    const live = await getIfExists(client.live ?? client, this.#type, keyOf(object), { signal });
    if (live === undefined) return false;
    this.#giveUp('it has no status subresource', logger);
    return true;
  }

  #giveUp(why: string, logger: Logger): void {
    this.#isKept = false;
    const { kind } = this.#type;
    logger.info(`${kind} keeps no conditions, ${why}: events and log tell instead`);
  }
}

/** The conditions in the status of an object; none where these have another shape. */
export function conditionsOf(object: KubernetesObject): readonly Condition[] {
  const { status } = object as { readonly status?: unknown };
  if (!isJsonObject(status) || !Array.isArray(status['conditions'])) return [];
  return status['conditions'] as readonly Condition[];
}
