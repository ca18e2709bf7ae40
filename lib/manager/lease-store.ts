import type { Client } from '../client/client.js';
import { Deadline } from '../client/deadline.js';
import { isApiError, isForbidden, isNotFound } from '../object/api-error.js';
import { Lease } from '../object/kinds.js';
import type { Clock } from '../system/clock.js';
import { OperatorError, isOperatorError } from '../system/operator-error.js';

/** Options of {@link LeaseStore}. */
export interface LeaseStoreOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
}

/** Limits of one attempt: a timeout and a signal. */
export interface AttemptLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Reads and writes one Lease on the server, with a timeout and errors that name the remedy. */
export class LeaseStore {
  readonly #options: LeaseStoreOptions;

  constructor(options: LeaseStoreOptions) {
    this.#options = options;
  }

  /** `namespace/name`, for messages. */
  get key(): string {
    return `${this.#options.namespace}/${this.#options.name}`;
  }

  /** @returns the Lease; undefined if it does not exist */
  async get(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace, name } = this.#options;
    try {
      return await client.get(Lease, { namespace, name }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw this.#explain('get', error);
    }
  }

  async create(lease: Lease, signal: AbortSignal): Promise<Lease> {
    try {
      return await this.#options.client.create(lease, { signal });
    } catch (error) {
      throw this.#explain('create', error);
    }
  }

  /** @throws ApiError 409: the Lease has changed since `lease` was read, or is deleted. */
  async update(lease: Lease, signal: AbortSignal): Promise<Lease> {
    try {
      return await this.#options.client.update(lease, { signal });
    } catch (error) {
      throw this.#explain('update', error);
    }
  }

  /**
   * Runs `attempt` and rejects at the timeout even if the client hangs.
   * @throws OperatorError `Timeout`
   */
  async within<T>(limits: AttemptLimits, attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { timeoutMs, signal } = limits;
    const deadline = new Deadline(signal, this.#options.clock, timeoutMs);
    try {
      return await deadline.until(attempt(deadline.signal));
    } catch (error) {
      if (!deadline.expired) throw error;
      const message = `Lease ${this.key}: no answer within ${Math.round(timeoutMs)} ms`;
      throw new OperatorError('Timeout', message, { cause: error });
    } finally {
      deadline.release();
    }
  }

  #explain(verb: string, error: unknown): unknown {
    if (!isForbidden(error) || !isApiError(error)) return error;
    return new LeaseForbiddenError(verb, this.#options, error);
  }
}

/** RBAC forbids this process to take part in the election; `message` contains the rule to add. */
export class LeaseForbiddenError extends OperatorError {
  /** The forbidden verb: `get`, `create` or `update`. */
  readonly verb: string;

  constructor(verb: string, key: { namespace: string; name: string }, cause: unknown) {
    const { namespace, name } = key;
    const rule =
      '{ apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, update] }';
    const remedy = `add the rule ${rule} to a Role in namespace ${namespace}`;
    super('LeaseForbidden', `${verb} Lease ${namespace}/${name}: forbidden; ${remedy}`, { cause });
    this.verb = verb;
  }
}

/** Returns whether `error` is a {@link LeaseForbiddenError}. */
export function isLeaseForbidden(error: unknown): error is LeaseForbiddenError {
  return isOperatorError(error, 'LeaseForbidden');
}
