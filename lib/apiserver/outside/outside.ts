import type { Clock, Random } from '../../system/index.js';

/** A request to another server. */
export interface Question<T> {
  /** Identifies the request: equal keys have equal answers within a piece of work. */
  readonly key: string;
  /** Sends the request. Must not reject: a failure is an answer, too. */
  readonly ask: () => Promise<T>;
}

/** Thrown by synchronous code that needs answers first. Only {@link Outside.run} may catch it. */
class Unanswered extends Error {
  readonly questions: readonly Question<unknown>[];

  constructor(questions: readonly Question<unknown>[]) {
    super('answers of others are needed first');
    this.questions = questions;
  }
}

/** Options of {@link Outside}. */
export interface OutsideOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Returns whether there is currently a server to send requests to. */
  readonly needed: () => boolean;
}

interface Scope {
  readonly answers: Map<string, unknown>;
  readonly done: Map<string, unknown>;
  readonly now: number;
  readonly numbers: number[];
  readonly uuids: string[];
  nextNumber: number;
  nextUuid: number;
}

/**
 * Lets the server's synchronous code call webhooks. Work that needs an answer is aborted, and restarts from
 * the beginning when the answer has arrived. That repeats until the work needs no further answers:
 *
 * ```
 *   work ──▶ needs an answer ──▶ aborted        (nothing is committed yet)
 *    ▲                              │ send the request and wait; other writes may happen
 *    └───────── restarted ◀─────────┘           (on the state of the storage by then)
 * ```
 *
 * So a write is always decided on the state at its commit, as the real server ensures by retries. A
 * server without webhooks has no overhead. Time and random values are the same in each attempt;
 * otherwise each attempt would send different requests.
 */
export class Outside {
  readonly #clock: Clock;
  readonly #random: Random;
  /** Returns whether work may need answers; if not, {@link Outside.run} is unnecessary. */
  readonly #needed: () => boolean;
  #scope: Scope | undefined;

  constructor({ clock, random, needed }: OutsideOptions) {
    this.#needed = needed;
    this.#clock = clock;
    this.#random = random;
  }

  /** True if {@link Outside.run} is running some work, which may be waiting for answers. */
  get active(): boolean {
    return this.#scope !== undefined;
  }

  /** True if work may need answers, and so must use {@link Outside.run}. */
  get needed(): boolean {
    return this.#needed();
  }

  /** The clock. Its time stands still while {@link Outside.run} runs some work. */
  get clock(): Clock {
    const clock = this.#clock;
    return {
      now: () => this.#scope?.now ?? this.#clock.now(),
      monotonicMs: () => this.#clock.monotonicMs(),
      setTimer: (callback, delayMs) => this.#clock.setTimer(callback, delayMs),
      uptimeMs: () => clock.uptimeMs?.() ?? clock.monotonicMs(),
    };
  }

  /** Random values. Each attempt of the same work gets the same values. */
  get random(): Random {
    return { next: () => this.#nextNumber(), uuid: () => this.#nextUuid() };
  }

  /** Returns the answers to `questions` in their order. Works only within {@link Outside.run}. */
  answers<T>(questions: readonly Question<T>[]): T[] {
    const scope = this.#scope;
    if (scope === undefined)
      throw new Error(
        `${questions[0]?.key ?? 'questions'}: answers are requested outside of run()`,
      );
    const open = questions.filter(({ key }) => !scope.answers.has(key));
    if (open.length > 0) throw new Unanswered(open);
    return questions.map(({ key }) => scope.answers.get(key) as T);
  }

  /**
   * Runs `act`, which commits a change, only in the first attempt of the current work. Later attempts return the same
   * result.
   */
  once<T>(key: string, act: () => T): T {
    const scope = this.#scope;
    if (scope === undefined) return act();
    if (scope.done.has(key)) return scope.done.get(key) as T;
    const result = act();
    scope.done.set(key, result);
    return result;
  }

  /** Runs `work`, which may need answers, as often as necessary. */
  async run<T>(work: () => T): Promise<T> {
    const scope: Scope = {
      ...{ answers: new Map(), done: new Map(), numbers: [], uuids: [] },
      ...{ now: this.#clock.now(), nextNumber: 0, nextUuid: 0 },
    };
    for (;;) {
      const unanswered = this.#attempt(scope, work);
      if ('result' in unanswered) return unanswered.result;
      const { questions } = unanswered;
      const answers = await Promise.all(questions.map(({ ask }) => ask()));
      for (const [index, { key }] of questions.entries()) scope.answers.set(key, answers[index]);
    }
  }

  #attempt<T>(scope: Scope, work: () => T): { readonly result: T } | Unanswered {
    const before = this.#scope;
    this.#scope = scope;
    scope.nextNumber = 0;
    scope.nextUuid = 0;
    try {
      return { result: work() };
    } catch (error) {
      if (error instanceof Unanswered) return error;
      throw error;
    } finally {
      this.#scope = before;
    }
  }

  #nextNumber(): number {
    const scope = this.#scope;
    if (scope === undefined) return this.#random.next();
    return (scope.numbers[scope.nextNumber++] ??= this.#random.next());
  }

  #nextUuid(): string {
    const scope = this.#scope;
    if (scope === undefined) return this.#random.uuid();
    return (scope.uuids[scope.nextUuid++] ??= this.#random.uuid());
  }
}
