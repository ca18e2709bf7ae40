import { isBookkeeping } from '../object/bookkeeping.js';
import type { Clock } from '../system/clock.js';
import { sleep } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';
import type { Random } from '../system/random.js';
import type { ResourceRequest, Verb } from './requests/request-info.js';
import { failure } from './status-error.js';

/**
 * Requests that a fault befalls; what is not named does not matter. Without a `resource` the bookkeeping
 * of managers is left alone: access and token reviews, leases, events, and look-ups of
 * CustomResourceDefinitions.
 */
export interface FaultMatch {
  readonly verb?: Verb;
  /** The plural; `*` is any, bookkeeping included. */
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user?: string;
}

/** What happens instead of an answer, or before it. */
export type FaultEffect =
  /** An error answer. */
  | {
      readonly type: 'status';
      /** The HTTP status code, 400 to 599. */
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** The answer comes later, by so many milliseconds. */
  | { readonly type: 'latency'; readonly ms: number }
  /** The connection breaks: before the server has done anything, or after it has done all. */
  | { readonly type: 'reset'; readonly when: 'before' | 'after' };

/** A rule of fault injection. */
export interface FaultRule {
  readonly match?: FaultMatch;
  readonly effect: FaultEffect;
  /** How often it strikes at most. @defaultValue no limit */
  readonly times?: number;
  /** The chance, 0 to 1, that it strikes a request that it matches. @defaultValue 1 */
  readonly probability?: number;
  /** It may never strike: `testCluster` does not report it then. @defaultValue false */
  readonly optional?: boolean;
}

/** A rule that is in force. */
export interface Fault {
  /** How often it has struck. */
  readonly struck: number;
  /** Takes it out of force. */
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

  /** Puts a rule in force. */
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

  /** Rules that have never struck so far, in force or not, but for those that are `optional`. */
  get notStruck(): readonly FaultRule[] {
    return [...this.#notStruck];
  }

  /** Takes every rule out of force. */
  clear(): void {
    this.#rules.clear();
  }

  /**
   * Strikes a request before it is handled. @returns whether its connection breaks after it.
   * @throws StatusError or `ConnectionFailed`, as a rule wants it.
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

/** What the client of a broken connection gets. */
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
