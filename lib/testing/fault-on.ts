import type { Faults } from '../apiserver/index.js';
import type { FailingFault, Fault, FaultRule, FaultyClient, FaultyVerb } from '../client/index.js';
import { OperatorError, refuseUnknownOptions } from '../system/index.js';

/**
 * The calls that {@link faultOn} selects. Fields that are left out match everything, but without a `kind` the
 * manager's own requests do not match; see `FaultRule`.
 */
export interface FaultTarget {
  readonly verb?: FaultyVerb | undefined;
  /** The kind; `*` matches any kind, including those of the manager's own requests. */
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  /** The number of the call among those that match, from 1. @defaultValue every call */
  readonly nth?: number | undefined;
  /** `after`: the call is carried out, but its answer is lost. @defaultValue 'before' */
  readonly when?: 'before' | 'after' | undefined;
  /** True if the fault may never occur: `testCluster` does not report it then. @defaultValue false */
  readonly optional?: boolean | undefined;
}

/**
 * Creates a rule of `faulty` in one line.
 *
 * @example
 * ```ts
 * faulty(client, {
 *   rules: [
 *     faultOn({ verb: 'apply', kind: 'ConfigMap', nth: 2 }, faults.conflict()),
 *     faultOn({ verb: 'create', when: 'after' }, faults.reset()),
 *   ],
 * });
 * ```
 */
export function faultOn(target: FaultTarget, fault: Fault): FaultRule {
  const { verb, kind, name, nth, when, optional } = target;
  const names = { verb, kind, name, nth, when, optional };
  refuseUnknownOptions<FaultTarget>('faultOn', target, names);
  return {
    fault,
    ...(verb !== undefined && { verbs: [verb] }),
    ...(kind !== undefined && { kinds: [kind] }),
    ...(name !== undefined && { names: [name] }),
    ...(nth !== undefined && { calls: nth }),
    ...(when !== undefined && { when }),
    ...(optional !== undefined && { optional }),
  };
}

const status = (code: number, reason: string, retryAfterMs?: number): FailingFault => ({
  ...{ type: 'error', status: code, reason },
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});

/**
 * Asserts that every fault has occurred, because a fault that never occurs tests nothing. `testCluster` calls
 * it after each test, for the rules of its cluster and of `faulty` clients on the cluster's clients.
 * @param sources - clients that `faulty` made, and clusters.
 * @throws OperatorError `FaultNotInjected`: names the rules that were never applied.
 */
export function assertFaultsInjected(
  ...sources: readonly (FaultyClient | { readonly faults: Faults })[]
): void {
  const never = sources.flatMap((source): readonly object[] =>
    'faults' in source ? source.faults.notStruck : source.notInjected,
  );
  if (never.length === 0) return;
  const rules = never.map((rule) => JSON.stringify(rule)).join(', ');
  const remedy = 'name what the operator really calls, or set optional: true';
  const message = `faults that never happened: ${rules}; ${remedy}`;
  throw new OperatorError('FaultNotInjected', message);
}

/** Common failures of API servers. */
export const faults = {
  /** 409: another client has written the object meanwhile. */
  conflict: (): FailingFault => status(409, 'Conflict'),
  /** 403: a permission is missing. */
  forbidden: (): FailingFault => status(403, 'Forbidden'),
  /** 404: the object does not exist. */
  notFound: (): FailingFault => status(404, 'NotFound'),
  /** 410: the version is too old; for watches and lists. */
  gone: (): FailingFault => status(410, 'Expired'),
  /** 429, with the time to wait in milliseconds. */
  tooManyRequests: (retryAfterMs = 1_000): FailingFault =>
    status(429, 'TooManyRequests', retryAfterMs),
  /** 500. */
  serverError: (): FailingFault => status(500, 'InternalError'),
  /** The connection breaks. */
  reset: (): FailingFault => ({ type: 'reset' }),
  /** No answer arrives in time. */
  timeout: (): FailingFault => ({ type: 'timeout' }),
  /** Delays the answer by `ms` milliseconds. */
  delay: (ms: number): Fault => ({ type: 'delay', ms }),
} as const;
