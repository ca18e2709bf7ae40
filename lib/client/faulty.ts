import { ApiError, isBookkeeping } from '../object/index.js';
import type { KubernetesObject } from '../object/index.js';
import {
  sleep,
  systemClock,
  ConnectionError,
  OperatorError,
  seededRandom,
  refuseUnknownOptions,
} from '../system/index.js';
import type { Clock, Random, OptionNames } from '../system/index.js';
import { describeCall } from './call.js';
import type { Call } from './call.js';
import type { CallOptions, Client } from './client.js';
import { forwarding } from './client-wrappers.js';

/** The operations that a {@link FaultRule} can match. `event` is each event of a watch, `watch` its start. */
export type FaultyVerb =
  | 'get'
  | 'list'
  | 'watch'
  | 'event'
  | 'create'
  | 'update'
  | 'patch'
  | 'apply'
  | 'delete'
  | 'deletecollection';

/** A failure to inject. */
export type Fault =
  /** The server answers with this error. */
  | {
      readonly type: 'error';
      readonly status: number;
      readonly reason?: string | undefined;
      readonly message?: string | undefined;
      readonly retryAfterMs?: number | undefined;
    }
  /** The connection breaks: `ConnectionFailed`. */
  | { readonly type: 'reset' }
  /** The server does not answer: `Timeout`. */
  | { readonly type: 'timeout' }
  /** The call takes this many milliseconds longer, by the clock. */
  | { readonly type: 'delay'; readonly ms: number }
  /** The event arrives twice; only for the verb `event`. */
  | { readonly type: 'duplicate' };

/**
 * The calls that a fault applies to. An absent field matches everything, except that a rule without `kinds`
 * skips the bookkeeping of managers: access and token reviews, leases, events, and reads of
 * CustomResourceDefinitions.
 */
export interface FaultRule {
  readonly fault: Fault;
  /** The operations. */
  readonly verbs?: readonly FaultyVerb[] | undefined;
  /** `*` matches every kind, including those of the managers' bookkeeping (see {@link FaultRule}). */
  readonly kinds?: readonly string[] | undefined;
  /** The names of objects. */
  readonly names?: readonly string[] | undefined;
  /** The nth call that the fields above match, counted from 1, or every call from the nth on. */
  readonly calls?: number | { readonly from: number } | undefined;
  /** The probability of the fault at each matching call, from 0 to 1. @defaultValue 1 */
  readonly probability?: number | undefined;
  /** `after`: the server has carried out the call, and only its answer is lost. @defaultValue `before` */
  readonly when?: 'before' | 'after' | undefined;
  /** `testCluster` does not report the rule if it never applies. @defaultValue false */
  readonly optional?: boolean | undefined;
}

/** Options of {@link faulty}. */
export interface FaultyOptions {
  readonly rules: readonly FaultRule[];
  /** The seed for probabilities: the same seed and calls give the same faults. @defaultValue 1 */
  readonly seed?: number | undefined;
  /** The clock for delays. @defaultValue the system clock */
  readonly clock?: Clock | undefined;
}

/** A fault that was injected. */
export interface InjectedFault {
  readonly call: Call;
  readonly rule: FaultRule;
}

/** A {@link Client} with injected faults. */
export interface FaultyClient extends Client {
  /** The faults injected so far. */
  readonly injected: readonly InjectedFault[];
  /** The rules that have not applied yet, except `optional` ones. */
  readonly notInjected: readonly FaultRule[];
}

const faultyClients = new WeakMap<Client, FaultyClient[]>();

/** Returns the clients that {@link faulty} created for `client`, and for these clients. @internal */
export function faultyClientsOf(client: Client): readonly FaultyClient[] {
  const made = faultyClients.get(client) ?? [];
  return made.flatMap((each) => [each, ...faultyClientsOf(each)]);
}

/** Wraps a Client with faults by rules and seed, to test how its caller handles them. */
export function faulty(client: Client, options: FaultyOptions): FaultyClient {
  const faults = new Faults(options);
  const { around, strike } = faults;
  const made: FaultyClient = {
    ...forwarding(client),
    injected: faults.injected,
    get notInjected() {
      return faults.notInjected;
    },
    get: (type, key, options) =>
      around(about('get', type, { ...key, ...options }), () => client.get(type, key, options)),
    list: (type, options) => around(about('list', type, options), () => client.list(type, options)),
    pages: async function* (type, options) {
      for await (const page of client.pages(type, options)) {
        yield await around(about('list', type, options), () => Promise.resolve(page));
      }
    },
    watch: async function* (type, options) {
      await strike(about('watch', type, options));
      for await (const event of client.watch(type, options)) {
        const copies = 1 + (await strike(about('event', type, options)));
        for (let copy = 0; copy < copies; copy++) yield event;
      }
    },
    stream: async function* (type, key, options) {
      await strike(about('get', type, { ...key, ...options }));
      yield* client.stream(type, key, options);
    },
    create: (object, options) =>
      around(aboutObject('create', object, options), () => client.create(object, options)),
    update: (object, options) =>
      around(aboutObject('update', object, options), () => client.update(object, options)),
    patch: (type, key, patch, options) =>
      around(about('patch', type, { ...key, ...options }), () =>
        client.patch(type, key, patch, options),
      ),
    apply: (object, options) =>
      around(aboutObject('apply', object, options), () => client.apply(object, options)),
    delete: (type, key, options) =>
      around(about('delete', type, { ...key, ...options }), () =>
        client.delete(type, key, options),
      ),
    deleteCollection: (type, options) =>
      around(about('deletecollection', type, options), () =>
        client.deleteCollection(type, options),
      ),
  };
  faultyClients.set(client, [...(faultyClients.get(client) ?? []), made]);
  return made;
}

interface FaultyCall extends Call {
  readonly verb: FaultyVerb;
  readonly signal: AbortSignal | undefined;
}

interface About extends CallOptions {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

function about(verb: FaultyVerb, type: { readonly kind: string }, about: About = {}): FaultyCall {
  const { namespace, name, signal } = about;
  return { verb, kind: type.kind, namespace, name, signal };
}

function aboutObject(verb: FaultyVerb, object: KubernetesObject, options?: CallOptions) {
  const { namespace, name } = object.metadata;
  return about(verb, object, { namespace, name, signal: options?.signal });
}

const ruleNames: OptionNames<FaultRule> = {
  ...{ fault: true, verbs: true, kinds: true, names: true, calls: true, probability: true },
  ...{ when: true, optional: true },
};

class Faults {
  readonly injected: InjectedFault[] = [];
  readonly #rules: readonly FaultRule[];
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #matched = new Map<FaultRule, number>();

  constructor(options: FaultyOptions) {
    const { rules, seed = 1, clock = systemClock } = options;
    refuseUnknownOptions<FaultyOptions>('faulty', options, { rules, seed, clock });
    for (const rule of rules) refuseUnknownOptions('faulty: rule', rule, ruleNames);
    this.#rules = rules;
    this.#random = seededRandom(seed);
    this.#clock = clock;
  }

  get notInjected(): readonly FaultRule[] {
    const happened = new Set(this.injected.map(({ rule }) => rule));
    return this.#rules.filter((rule) => rule.optional !== true && !happened.has(rule));
  }

  /** Runs a call with its faults before and after it. */
  readonly around = async <T>(call: FaultyCall, run: () => Promise<T>): Promise<T> => {
    const due = this.#due(call);
    await this.#inflict(call, due, 'before');
    const result = await run();
    await this.#inflict(call, due, 'after');
    return result;
  };

  /** Injects the faults of a watch event. @returns how many extra copies of an event to deliver. */
  readonly strike = async (call: FaultyCall): Promise<number> => {
    const due = this.#due(call);
    await this.#inflict(call, due, 'before');
    await this.#inflict(call, due, 'after');
    return due.filter(({ fault }) => fault.type === 'duplicate').length;
  };

  /**
   * Returns the rules that apply to this call. Each rule counts every matching call, independently of other
   * rules.
   */
  #due(call: FaultyCall): FaultRule[] {
    return this.#rules.filter((rule) => {
      const { fault, verbs, kinds, names, calls = { from: 1 }, probability = 1 } = rule;
      const matches =
        (fault.type !== 'duplicate' || call.verb === 'event') &&
        (verbs?.includes(call.verb) ?? true) &&
        isKind(call, kinds) &&
        (names?.includes(call.name ?? '') ?? true);
      if (!matches) return false;
      const nth = (this.#matched.get(rule) ?? 0) + 1;
      this.#matched.set(rule, nth);
      const counts = typeof calls === 'number' ? nth === calls : nth >= calls.from;
      return counts && (probability >= 1 || this.#random.next() < probability);
    });
  }

  async #inflict(
    call: FaultyCall,
    due: readonly FaultRule[],
    moment: 'before' | 'after',
  ): Promise<void> {
    for (const rule of due) {
      const { fault, when = 'before' } = rule;
      if (when !== moment) continue;
      this.injected.push({ call, rule });
      if (fault.type === 'delay') await sleep(this.#clock, fault.ms, call.signal);
      else if (fault.type !== 'duplicate') throw errorOf(fault, call, moment);
    }
  }
}

function isKind({ verb, kind }: FaultyCall, kinds: readonly string[] | undefined): boolean {
  if (kinds === undefined) return !isBookkeeping(verb, kind);
  return kinds.includes(kind) || kinds.includes('*');
}

/** A fault that ends the call with an error. */
export type FailingFault = Exclude<Fault, { type: 'delay' | 'duplicate' }>;

/** Returns the error that a caller receives for `fault`. @internal */
export function errorOf(
  fault: FailingFault,
  call: Call,
  moment: 'before' | 'after',
): OperatorError {
  const what = describeCall(call);
  switch (fault.type) {
    case 'reset':
      return new ConnectionError(`${what}: injected reset`, { requestSent: moment === 'after' });
    case 'timeout':
      return new OperatorError('Timeout', `${what}: injected time-out`);
    case 'error': {
      const { status, reason, message = 'injected', retryAfterMs } = fault;
      const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, message };
      const { verb, kind, namespace, name } = call;
      const context = { verb, kind, namespace, name, status, retryAfterMs };
      return new ApiError({ ...body, ...(reason !== undefined && { reason }) }, context);
    }
  }
}
