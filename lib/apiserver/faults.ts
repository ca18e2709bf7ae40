import { isBookkeeping } from '../object/bookkeeping.js';
import type { Clock } from '../system/clock.js';
import { sleep } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';
import type { Random } from '../system/random.js';
import type { ResourceRequest, Verb } from './requests/request-info.js';
import { failure } from './status-error.js';

/**
 * Selects the requests of a fault; an undefined field matches everything. Without a `resource`, the fault
 * skips the bookkeeping of managers: access and token reviews, leases, events, and reads of
 * CustomResourceDefinitions.
 */
export interface FaultMatch {
  readonly verb?: Verb;
  /** The plural; `*` matches every resource, bookkeeping included. */
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user?: string;
}

/** The effect of a fault on a request. */
export type FaultEffect =
  /** Answers with an error. */
  | {
      readonly type: 'status';
      /** The HTTP status code, 400 to 599. */
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** Delays the request by `ms` milliseconds. */
  | { readonly type: 'latency'; readonly ms: number }
  /** Breaks the connection before or after the server handles the request. */
  | { readonly type: 'reset'; readonly when: 'before' | 'after' };

/** A rule of fault injection. */
export interface FaultRule {
  readonly match?: FaultMatch;
  readonly effect: FaultEffect;
  /** The maximum number of requests that the rule affects. @defaultValue no limit */
  readonly times?: number;
  /** The probability, 0 to 1, that the rule affects a matching request. @defaultValue 1 */
  readonly probability?: number;
  /** Accept a rule that affects no request; otherwise `testCluster` reports it. @defaultValue false */
  readonly optional?: boolean;
}

/** An active rule. */
export interface Fault {
  /** The number of requests that the rule has affected. */
  readonly struck: number;
  /** Deactivates the rule. */
  remove(): void;
}

interface ActiveRule {
  readonly rule: FaultRule;
  struck: number;
}

/** The fault rules of a server, in the order in which they were added. */
export class Faults {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #rules = new Set<ActiveRule>();
  readonly #notStruck = new Set<FaultRule>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Activates a rule. */
  add(rule: FaultRule): Fault {
    const active: ActiveRule = { rule, struck: 0 };
    this.#rules.add(active);
    if (rule.optional !== true) this.#notStruck.add(rule);
    return {
      get struck() {
        return active.struck;
      },
      remove: () => void this.#rules.delete(active),
    };
  }

  /** Rules that have affected no request yet, active or not, except those that are `optional`. */
  get notStruck(): readonly FaultRule[] {
    return [...this.#notStruck];
  }

  /** Deactivates all rules. */
  clear(): void {
    this.#rules.clear();
  }

  /**
   * Applies the rules to a request before the server handles it.
   * @returns true if the connection must break after the request is handled
   * @throws StatusError or `ConnectionFailed`, as a rule specifies.
   * @internal
   */
  async strike(info: ResourceRequest, user: string, signal?: AbortSignal): Promise<boolean> {
    let resetAfter = false;
    for (const active of [...this.#rules]) {
      if (!this.#strikes(active, info, user)) continue;
      active.struck++;
      this.#notStruck.delete(active.rule);
      const { effect } = active.rule;
      if (effect.type === 'latency') await sleep(this.#clock, effect.ms, signal);
      else if (effect.type === 'status') throw statusOf(effect);
      else if (effect.when === 'before') throw connectionReset();
      else resetAfter = true;
    }
    return resetAfter;
  }

  #strikes({ rule, struck }: ActiveRule, info: ResourceRequest, user: string): boolean {
    const { match = {}, times = Infinity, probability = 1 } = rule;
    if (struck >= times) return false;
    if (match.resource === undefined && isBookkeeping(info.verb, info.resource)) return false;
    const asked: FaultMatch = { ...matchable(info), user };
    const names = Object.keys(match) as (keyof FaultMatch)[];
    const isAny = (name: keyof FaultMatch): boolean =>
      match[name] === undefined || (name === 'resource' && match.resource === '*');
    if (!names.every((name) => isAny(name) || match[name] === asked[name])) return false;
    return probability >= 1 || this.#random.next() < probability;
  }
}

function matchable({ verb, resource, subresource, namespace, name }: ResourceRequest): FaultMatch {
  const own = { verb, resource, namespace, name };
  return subresource === undefined ? own : { ...own, subresource };
}

/** Returns the error that a client gets when a fault breaks its connection. */
export function connectionReset(): OperatorError {
  return new OperatorError('ConnectionFailed', 'the connection was reset (an injected fault)');
}

const reasons: Readonly<Partial<Record<number, string>>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function statusOf(effect: Extract<FaultEffect, { type: 'status' }>): Error {
  const { code, message = 'an injected fault', retryAfterSeconds } = effect;
  const reason = effect.reason ?? reasons[code] ?? '';
  const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return failure(code, reason, message, details);
}
