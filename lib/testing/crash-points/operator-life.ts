import type { Client } from '../../client/client.js';
import { OperatorError } from '../../system/operator-error.js';
import { errorOf } from '../../client/faulty.js';
import type { FailingFault } from '../../client/faulty.js';
import type { Interruption, RequestFailure } from './crash-point.js';
import { faults } from '../fault-on.js';
import { mortalClient } from './mortal-client.js';
import type { RequestTrace, TracedCall } from './request-trace.js';

/** What an {@link OperatorLife} is made of. */
export interface OperatorLifeOptions {
  /** Leads to the cluster. */
  readonly client: Client;
  readonly trace: RequestTrace;
  /** How it dies at the crash point, or how the request there fails. */
  readonly mode: Interruption['mode'];
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
  readonly #mode: Interruption['mode'];
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
    const { isHit } = request;
    const failure = isHit && isFailure(this.#mode) ? failures[this.#mode] : undefined;
    const sendNoted = async (): Promise<T> => {
      const answer = await send(isHit && failure === undefined);
      if (wasCreated(answer)) request.created();
      return answer;
    };
    try {
      if (failure !== undefined) return await fail(call, failure, sendNoted);
      return await (isHit ? this.#die(sendNoted) : sendNoted());
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

interface Failure {
  readonly fault: FailingFault;
  readonly when: 'before' | 'after';
}

const failures: Readonly<Record<RequestFailure, Failure>> = {
  conflict: { fault: faults.conflict(), when: 'before' },
  serverError: { fault: faults.serverError(), when: 'before' },
  resetBefore: { fault: faults.reset(), when: 'before' },
  resetAfter: { fault: faults.reset(), when: 'after' },
  timeout: { fault: faults.timeout(), when: 'before' },
};

/** Whether `mode` lets a request fail, and the operator live. */
export function isFailure(mode: Interruption['mode']): mode is RequestFailure {
  return Object.hasOwn(failures, mode);
}

async function fail<T>(
  { verb, type, namespace, name }: TracedCall,
  { fault, when }: Failure,
  send: () => Promise<T>,
): Promise<never> {
  if (when === 'after') await outcomeOf(send());
  throw errorOf(fault, { verb, kind: type.kind, namespace, name }, when);
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
