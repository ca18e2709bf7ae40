import type { Client } from '../../client/client.js';
import { OperatorError } from '../../system/operator-error.js';
import type { CrashMode } from './crash-point.js';
import { mortalClient } from './mortal-client.js';
import type { RequestTrace, TracedCall } from './request-trace.js';

/** What an {@link OperatorLife} is made of. */
export interface OperatorLifeOptions {
  /** Leads to the cluster. */
  readonly client: Client;
  readonly trace: RequestTrace;
  /** How it dies at the crash point. */
  readonly mode: CrashMode;
}

/** How a call is made. */
export interface Sending<T> {
  /** @param last - it must not be called back by a signal: it is what the operator dies at. */
  readonly send: (last: boolean) => Promise<T>;
  /** Whether the answer says that an object was made. @defaultValue never */
  readonly wasCreated?: (answer: T) => boolean;
}

/**
 * One process of the operator, as far as the cluster can tell: a client and a signal. Once it is dead
 * its client sends nothing more; the code above it unwinds, which nobody outside can see.
 */
export class OperatorLife {
  readonly client: Client;
  readonly #stop = new AbortController();
  readonly #trace: RequestTrace;
  readonly #mode: CrashMode;
  #isDead = false;

  constructor({ client, trace, mode }: OperatorLifeOptions) {
    this.#trace = trace;
    this.#mode = mode;
    this.client = mortalClient(client, this);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Ends it: nothing is sent from now on. */
  kill(): void {
    this.#isDead = true;
    this.#stop.abort();
  }

  /** @throws OperatorError `Stopped`: it is dead. */
  check(): void {
    if (this.#isDead) throw killed();
  }

  /** Makes a call that can be its last. */
  async call<T>(call: TracedCall, { send, wasCreated = () => false }: Sending<T>): Promise<T> {
    if (this.#trace.isHot) this.kill();
    this.check();
    const request = this.#trace.add(call);
    const sendNoted = async (): Promise<T> => {
      const answer = await send(request.isCrashPoint);
      if (wasCreated(answer)) request.created();
      return answer;
    };
    try {
      return await (request.isCrashPoint ? this.#die(sendNoted) : sendNoted());
    } finally {
      request.ended();
    }
  }

  async #die<T>(send: () => Promise<T>): Promise<T> {
    const mode = this.#mode;
    // From here on: what is about to be sent beside it is not.
    if (mode !== 'answered') this.#isDead = true;
    const answer = mode === 'before' ? undefined : await outcomeOf(send());
    this.#isDead = true;
    // Not at once: the answer is seen first.
    queueMicrotask(() => this.kill());
    if (mode !== 'answered' || answer === undefined) throw killed();
    return answer();
  }
}

function killed(): OperatorError {
  return new OperatorError('Stopped', 'the operator was killed: nothing is sent any more');
}

/** What a promise came to: to be returned or thrown. */
async function outcomeOf<T>(promise: Promise<T>): Promise<() => T> {
  try {
    const value = await promise;
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
