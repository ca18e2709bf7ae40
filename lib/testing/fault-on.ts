import type { FailingFault, Fault, FaultRule, FaultyVerb } from '../client/faulty.js';

/** Which calls {@link faultOn} is about; what is left out matches everything. */
export interface FaultTarget {
  readonly verb?: FaultyVerb | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  /** Only the nth call that matches, counted from 1. @defaultValue every one */
  readonly nth?: number | undefined;
  /** `after`: the call is carried out, only its answer is lost. @defaultValue 'before' */
  readonly when?: 'before' | 'after' | undefined;
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
  const { verb, kind, name, nth, when } = target;
  return {
    fault,
    ...(verb !== undefined && { verbs: [verb] }),
    ...(kind !== undefined && { kinds: [kind] }),
    ...(name !== undefined && { names: [name] }),
    ...(nth !== undefined && { calls: nth }),
    ...(when !== undefined && { when }),
  };
}

const status = (code: number, reason: string, retryAfterMs?: number): FailingFault => ({
  ...{ type: 'error', status: code, reason },
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});

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
