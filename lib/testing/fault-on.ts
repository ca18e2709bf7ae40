import type { Faults } from '../apiserver/faults.js';
import type { FailingFault, Fault, FaultRule, FaultyClient, FaultyVerb } from '../client/faulty.js';
import { OperatorError } from '../system/operator-error.js';
import { refuseUnknownOptions } from '../system/known-options.js';

/**
 * Calls that {@link faultOn} is about. What is left out matches everything; but without a `kind` the
 * manager's own bookkeeping is left alone, see `FaultRule`.
 */
export interface FaultTarget {
  readonly verb?: FaultyVerb | undefined;
  /** `*` is any kind, bookkeeping included. */
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  /** Only the nth call that matches, counted from 1. @defaultValue every one */
  readonly nth?: number | undefined;
  /** `after`: the call is carried out, only its answer is lost. @defaultValue 'before' */
  readonly when?: 'before' | 'after' | undefined;
  /** It may never happen: `testCluster` does not report it then. @defaultValue false */
  readonly optional?: boolean | undefined;
}

/**
 * A rule of `faulty` in one line.
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
 * Asserts that every fault has happened: one that has not shows nothing. `testCluster` does it after each
 * test, for the rules of its cluster and of `faulty` clients on the cluster's clients.
 * @param sources - clients that `faulty` made, and clusters.
 * @throws OperatorError `FaultNotInjected`: names the rules that never struck.
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

/** What goes wrong with API servers. */
export const faults = {
  /** 409: somebody else has written in between. */
  conflict: (): FailingFault => status(409, 'Conflict'),
  /** 403: a permission is missing. */
  forbidden: (): FailingFault => status(403, 'Forbidden'),
  /** 404: it is not there. */
  notFound: (): FailingFault => status(404, 'NotFound'),
  /** 410: the version is too old; for watches and lists. */
  gone: (): FailingFault => status(410, 'Expired'),
  /** 429, with how long to wait in milliseconds. */
  tooManyRequests: (retryAfterMs = 1_000): FailingFault =>
    status(429, 'TooManyRequests', retryAfterMs),
  /** 500. */
  serverError: (): FailingFault => status(500, 'InternalError'),
  /** The connection breaks. */
  reset: (): FailingFault => ({ type: 'reset' }),
  /** No answer comes in time. */
  timeout: (): FailingFault => ({ type: 'timeout' }),
  /** It takes so many milliseconds longer. */
  delay: (ms: number): Fault => ({ type: 'delay', ms }),
} as const;
