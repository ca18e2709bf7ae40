import { isBookkeeping } from '../object/index.js';
import type { UnstructuredObject } from '../object/index.js';
import type { Clock, OptionNames, Random, TransportResponse } from '../system/index.js';
import { sleep, refuseUnknownOptions, OperatorError } from '../system/index.js';
import type { ResourceRequest, Verb } from './requests/request-info.js';
import { failure } from './status-error.js';

/**
 * Selects the requests of a fault; an undefined field matches everything. Without a `resource`, the fault
 * skips the bookkeeping of managers: access and token reviews, leases, events, and reads of
 * CustomResourceDefinitions.
 */
export interface FaultMatch {
  readonly verb?: Verb;
  /** The plural; `*` matches every resource, including the bookkeeping of managers. */
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user?: string;
}

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
  | { readonly type: 'reset'; readonly when: 'before' | 'after' }
  /**
   * Drops or repeats an event of a watch, also of a watch that is already open. The rule matches the verb
   * `watch`, and the name and namespace of the event's object; `times`, `probability` and `struck` count
   * events. Events of the objects that exist when a watch starts are sent unchanged.
   */
  | { readonly type: 'dropEvent' | 'duplicateEvent' };

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
  readonly rule: FaultRule;
  /** The number of requests that the rule has affected. */
  readonly struck: number;
  /** Deactivates the rule. */
  remove(): void;
}

interface ActiveRule {
  readonly rule: FaultRule;
  struck: number;
  remove(): void;
}

/** The fault rules of a server, in the order in which they were added. */
export class Faults {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #rules = new Set<ActiveRule>();
  #hasEventRules = false;
  readonly #notStruck = new Set<FaultRule>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /**
   * Activates a rule.
   * @throws OperatorError `InvalidOption`: a field is unknown or out of its range.
   */
  add(rule: FaultRule): Fault {
    checkFaultRule(rule);
    const remove = (): void => void this.#rules.delete(active);
    const active: ActiveRule = { rule, struck: 0, remove };
    this.#rules.add(active);
    this.#hasEventRules ||= isEventRule(rule);
    if (rule.optional !== true) this.#notStruck.add(rule);
    return active;
  }

  /** The active rules, in the order in which they were added. */
  get active(): readonly Fault[] {
    return [...this.#rules];
  }

  /** Rules that have affected no request yet, active or not, except those that are `optional`. */
  get notStruck(): readonly FaultRule[] {
    return [...this.#notStruck];
  }

  /** Whether no rule is active. @internal */
  get isEmpty(): boolean {
    return this.#rules.size === 0;
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
      if (isEventRule(active.rule) || !this.#strikes(active, info, user)) continue;
      const { effect } = active.rule;
      if (effect.type === 'latency') await sleep(this.#clock, effect.ms, signal);
      else if (effect.type === 'status') throw statusOf(effect);
      else if (effect.type === 'reset' && effect.when === 'before') throw connectionReset();
      else resetAfter = true;
    }
    return resetAfter;
  }

  /**
   * Returns how often a watch sends the event of an object: once, unless a rule drops or repeats it.
   * @internal
   */
  copiesOf(object: UnstructuredObject, watch: ResourceRequest, user: string): number {
    if (!this.#hasEventRules) return 1;
    const { name = '', namespace = '' } = object.metadata;
    const info = { ...watch, name, namespace };
    let copies = 1;
    for (const active of this.#rules) {
      if (!isEventRule(active.rule) || !this.#strikes(active, info, user)) continue;
      copies = active.rule.effect.type === 'dropEvent' ? 0 : copies * 2;
    }
    return copies;
  }

  /** Whether a rule affects a request. If so, counts the request. */
  #strikes(active: ActiveRule, info: ResourceRequest, user: string): boolean {
    if (!this.#matches(active, info, user)) return false;
    active.struck++;
    this.#notStruck.delete(active.rule);
    return true;
  }

  #matches({ rule, struck }: ActiveRule, info: ResourceRequest, user: string): boolean {
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

function isEventRule({ effect: { type } }: FaultRule): boolean {
  return type === 'dropEvent' || type === 'duplicateEvent';
}

const ruleNames: OptionNames<FaultRule> = {
  ...{ match: true, effect: true, times: true, probability: true, optional: true },
};
const matchNames: OptionNames<FaultMatch> = {
  ...{ verb: true, resource: true, subresource: true, namespace: true, name: true, user: true },
};
type EffectNames = OptionNames<FaultEffect> & Readonly<Record<string, unknown>>;
const effectNames: Readonly<Record<FaultEffect['type'], EffectNames>> = {
  status: { type: true, code: true, reason: true, message: true, retryAfterSeconds: true },
  latency: { type: true, ms: true },
  reset: { type: true, when: true },
  dropEvent: { type: true },
  duplicateEvent: { type: true },
};

/** Checks a rule that may come from plain JavaScript or JSON. */
function checkFaultRule(rule: FaultRule): void {
  refuseUnknownOptions<FaultRule>('fault', rule, ruleNames);
  const { match = {}, effect, times = 1, probability = 1 } = rule;
  refuseUnknownOptions<FaultMatch>('fault.match', match, matchNames);
  for (const [name, value] of Object.entries(match) as [string, unknown][]) {
    if (value !== undefined) checkFault(`match.${name}`, value, ['a string', isText(value)]);
  }
  const { type } = (effect as FaultEffect | undefined) ?? { type: undefined };
  const types = Object.keys(effectNames);
  checkFault('effect.type', type, [`one of ${types.join(', ')}`, types.includes(String(type))]);
  refuseUnknownOptions('fault.effect', effect, effectNames[effect.type]);
  checkEffect(effect);
  checkFault('times', times, ['an integer, at least 1', times === Infinity || isWhole(times, 1)]);
  const isShare = typeof probability === 'number' && probability >= 0 && probability <= 1;
  checkFault('probability', probability, ['0 to 1', isShare]);
}

function checkEffect(effect: FaultEffect): void {
  if (effect.type === 'latency') {
    checkFault('effect.ms', effect.ms, [
      'a number, at least 0',
      typeof effect.ms === 'number' && effect.ms >= 0,
    ]);
  } else if (effect.type === 'reset') {
    const { when } = effect;
    checkFault('effect.when', when, ['before or after', ['before', 'after'].includes(when)]);
  } else if (effect.type === 'status') {
    const { code, reason = '', message = '', retryAfterSeconds: seconds = 0 } = effect;
    checkFault('effect.code', code, ['400 to 599', isWhole(code, 400) && code <= 599]);
    checkFault('effect.reason', reason, ['a string', isText(reason)]);
    checkFault('effect.message', message, ['a string', isText(message)]);
    checkFault('effect.retryAfterSeconds', seconds, ['an integer, at least 0', isWhole(seconds)]);
  }
}

function checkFault(
  field: string,
  got: unknown,
  [wanted, holds]: readonly [string, boolean],
): void {
  if (holds) return;
  const message = `fault: want ${field} to be ${wanted}, got ${JSON.stringify(got)}`;
  throw new OperatorError('InvalidOption', message);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isWhole(value: unknown, least = 0): boolean {
  return Number.isInteger(value) && (value as number) >= least;
}

function matchable({ verb, resource, subresource, namespace, name }: ResourceRequest): FaultMatch {
  const own = { verb, resource, namespace, name };
  return subresource === undefined ? own : { ...own, subresource };
}

/**
 * Breaks the connection before the answer is read. Ends the body of the answer first, since a watch would stay
 * open.
 * @throws OperatorError `ConnectionFailed`
 */
export async function resetAfter({ body }: TransportResponse): Promise<never> {
  await body[Symbol.asyncIterator]().return?.();
  throw connectionReset();
}

/** Returns the error that a client gets when a fault breaks its connection. */
function connectionReset(): OperatorError {
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
