import type { Client } from '../client/index.js';
import { Deadline } from '../client/index.js';
import {
  isApiError,
  isForbidden,
  isNamespaceTerminating,
  isNotFound,
  Lease,
  formatMicroTime,
} from '../object/index.js';
import type { Clock } from '../system/index.js';
import { OperatorError } from '../system/index.js';

export interface LeaseStoreOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
}

interface LeaseRequestLimits {
  /** Names the request in the error. */
  readonly what: string;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request, and rejects at the timeout even if the client hangs.
 * @throws OperatorError `Timeout`
 */
export async function inTime<T>(
  { what, clock, timeoutMs, signal }: LeaseRequestLimits,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new Deadline(signal, clock, timeoutMs);
  try {
    return await deadline.until(send(deadline.signal));
  } catch (error) {
    if (!deadline.expired) throw error;
    const message = `${what}: no answer within ${Math.round(timeoutMs)} ms`;
    throw new OperatorError('Timeout', message, { cause: error });
  } finally {
    deadline.release();
  }
}

/** Returns the error of a forbidden request with the RBAC rule to add; other errors are unchanged. */
export function withLeaseRule(
  error: unknown,
  what: string,
  { namespace, verbs }: { readonly namespace: string; readonly verbs: string },
): unknown {
  if (!isForbidden(error) || !isApiError(error) || isNamespaceTerminating(error)) return error;
  const rule = `{ apiGroups: [coordination.k8s.io], resources: [leases], verbs: [${verbs}] }`;
  // A quota or an admission plugin answers with the same status, so the remedy is conditional.
  const remedy = `if RBAC denies it, add the rule ${rule} to a Role in namespace ${namespace}`;
  const message = `${what}: forbidden: ${error.body.message ?? ''}; ${remedy}`;
  return new OperatorError('LeaseForbidden', message, { cause: error });
}

/** Reads and writes one Lease on the server, with errors that name the remedy. */
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

  #explain(verb: string, error: unknown): unknown {
    const { namespace } = this.#options;
    return withLeaseRule(error, `${verb} Lease ${this.key}`, {
      namespace,
      verbs: 'get, create, update',
    });
  }
}

/** The holder's data in a Lease. Its times must not be compared with a local clock: clocks differ. */
export interface LeaseRecord {
  /** `''` if the Lease is free. */
  readonly holder: string;
  /** Lease duration after a renewal, in milliseconds; undefined if absent. */
  readonly durationMs: number | undefined;
  /** Time of the renewal on the holder's clock, unparsed; used only to distinguish records. */
  readonly renewTime: string;
  /** Number of holder changes. */
  readonly transitions: number;
}

/** Values that a holder writes when it takes or renews the Lease. */
export interface LeaseHolding {
  readonly identity: string;
  readonly durationMs: number;
  /** Wall-clock time in milliseconds since 1970; informational. */
  readonly nowMs: number;
}

/** Reads a Lease; a missing or invalid field counts as unset. */
export function leaseRecordOf({ spec }: Lease): LeaseRecord {
  // The types require a spec, but a Lease created by hand may lack it.
  const { holderIdentity, leaseDurationSeconds, leaseTransitions, renewTime } = spec ?? {};
  return {
    holder: holderIdentity ?? '',
    durationMs: isPositive(leaseDurationSeconds) ? leaseDurationSeconds * 1_000 : undefined,
    renewTime: renewTime ?? '',
    transitions: isPositive(leaseTransitions) ? leaseTransitions : 0,
  };
}

export function newLease(key: { namespace: string; name: string }, holding: LeaseHolding): Lease {
  const now = formatMicroTime(holding.nowMs);
  const spec = { ...renewal(holding, now), acquireTime: now, leaseTransitions: 0 };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { ...key }, spec };
}

/** Returns `lease` with a new holder; other fields are unchanged. */
export function takenLease(lease: Lease, holding: LeaseHolding): Lease {
  const now = formatMicroTime(holding.nowMs);
  const leaseTransitions = leaseRecordOf(lease).transitions + 1;
  const spec = { ...lease.spec, ...renewal(holding, now), acquireTime: now, leaseTransitions };
  return { ...lease, spec };
}

export function renewedLease(lease: Lease, holding: LeaseHolding): Lease {
  return { ...lease, spec: { ...lease.spec, ...renewal(holding, formatMicroTime(holding.nowMs)) } };
}

/**
 * Returns `lease` without a holder. Like client-go, it sets a duration of one second, the minimum, so that a
 * reader that ignores the empty holder sees the Lease expire soon.
 */
export function releasedLease(lease: Lease, nowMs: number): Lease {
  const now = formatMicroTime(nowMs);
  const nobody = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
  return { ...lease, spec: { ...lease.spec, ...nobody } };
}

function renewal({ identity, durationMs }: LeaseHolding, renewTime: string) {
  // Rounded up to whole seconds, so that no other replica takes the Lease early.
  const leaseDurationSeconds = Math.ceil(durationMs / 1_000);
  return { holderIdentity: identity, leaseDurationSeconds, renewTime };
}

function isPositive(value: number | undefined): value is number {
  return Number.isFinite(value) && Number(value) > 0;
}

/**
 * Decides from its own observations whether the holder of a Lease is alive. A holder counts as alive for its
 * lease duration after a new record is first seen. Only this process's monotonic clock counts, so clocks that
 * differ or jump do no harm.
 */
export class LeaseObserver {
  readonly #clock: Clock;
  readonly #defaultDurationMs: number;
  #seen = '';
  #seenMs = 0;
  #durationMs = 0;
  #holder = '';

  /**
   * @param defaultDurationMs - duration of a Lease that has no duration field, and the longest duration that counts for
   * a deleted Lease
   */
  constructor(clock: Clock, defaultDurationMs: number) {
    this.#clock = clock;
    this.#defaultDurationMs = defaultDurationMs;
  }

  /** The holder last seen; `''` if the Lease is free. */
  get holder(): string {
    return this.#holder;
  }

  /** Milliseconds until the holder's lease expires; 0 if it has expired or the Lease is free. */
  get remainingMs(): number {
    if (this.#holder === '') return 0;
    return Math.max(0, this.#seenMs + this.#durationMs - this.#clock.monotonicMs());
  }

  /**
   * Records that the Lease is deleted. Its holder may not have noticed yet. But if a user deletes a Lease with a
   * duration of years, the other replicas must not wait for years.
   */
  observeDeletion(): void {
    this.#durationMs = Math.min(this.#durationMs, this.#defaultDurationMs);
  }

  /** Records the server's latest response. */
  observe(lease: Lease): void {
    // Only the spec counts: a changed label is not a renewal.
    const seen = JSON.stringify(lease.spec ?? null);
    if (seen === this.#seen) return;
    const { holder, durationMs = this.#defaultDurationMs } = leaseRecordOf(lease);
    this.#seen = seen;
    this.#seenMs = this.#clock.monotonicMs();
    this.#holder = holder;
    this.#durationMs = durationMs;
  }
}
