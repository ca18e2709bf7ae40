import type { Clock } from '../../system/clock.js';
import type { Random } from '../../system/random.js';

/** Something to ask of a server elsewhere. */
export interface Question<T> {
  /** What is asked: equal keys have equal answers within a request. */
  readonly key: string;
  /** Asks. It must not reject: failures are answers too. */
  readonly ask: () => Promise<T>;
}

/** Thrown by synchronous code that needs answers first; only {@link Outside.run} may catch it. */
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
  /** Whether there is anybody to ask at the moment. */
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
 * Lets the server's synchronous code ask webhooks. A piece of work that needs an answer is broken
 * off, and begun anew when the answer is there, until it needs no more of them:
 *
 * ```
 *   work ──▶ needs an answer ──▶ broken off     (nothing is committed yet)
 *    ▲                              │ ask, and wait: others write meanwhile
 *    └──────── begun anew ◀─────────┘           (on what is stored by then)
 * ```
 *
 * So a write is always decided on what is stored at its commit, as the real server's retries make
 * sure, and the server without webhooks pays nothing. Time and chance are the same in each round, or
 * each round would ask something else.
 */
export class Outside {
  readonly #clock: Clock;
  readonly #random: Random;
  /** Whether there may be something to ask; while there is not, {@link Outside.run} is not needed. */
  readonly #needed: () => boolean;
  #scope: Scope | undefined;

  constructor({ clock, random, needed }: OutsideOptions) {
    this.#needed = needed;
    this.#clock = clock;
    this.#random = random;
  }

  /** Whether a piece of work is being done, which may wait for answers. */
  get active(): boolean {
    return this.#scope !== undefined;
  }

  /** Whether work may have to ask; otherwise it need not be {@link Outside.run}. */
  get needed(): boolean {
    return this.#needed();
  }

  /** The clock, which stands still within a piece of work. */
  get clock(): Clock {
    const clock = this.#clock;
    return {
      now: () => this.#scope?.now ?? this.#clock.now(),
      monotonicMs: () => this.#clock.monotonicMs(),
      setTimer: (callback, delayMs) => this.#clock.setTimer(callback, delayMs),
      uptimeMs: () => clock.uptimeMs?.() ?? clock.monotonicMs(),
    };
  }

  /** Chance, which is the same in each round of a piece of work. */
  get random(): Random {
    return { next: () => this.#nextNumber(), uuid: () => this.#nextUuid() };
  }

  /** Answers to `questions`, in their order. Only within {@link Outside.run}. */
  answers<T>(questions: readonly Question<T>[]): T[] {
    const scope = this.#scope;
    if (scope === undefined) throw new Error(`nobody waits for ${questions[0]?.key ?? ''}`);
    const open = questions.filter(({ key }) => !scope.answers.has(key));
    if (open.length > 0) throw new Unanswered(open);
    return questions.map(({ key }) => scope.answers.get(key) as T);
  }

  /** Does something only once, however often its work is begun anew: it commits. */
  once<T>(key: string, act: () => T): T {
    const scope = this.#scope;
    if (scope === undefined) return act();
    if (scope.done.has(key)) return scope.done.get(key) as T;
    const result = act();
    scope.done.set(key, result);
    return result;
  }

  /** Does `work`, which may ask; as often as it takes. */
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
