import type { Client } from '../../client/client.js';
import { OperatorError } from '../../system/operator-error.js';
import { errorOf } from '../../client/faulty.js';
import type { FailingFault } from '../../client/faulty.js';
import type { Interruption, RequestFailure } from './crash-point.js';
import { faults } from '../fault-on.js';
import { mortalClient } from './mortal-client.js';
import type { RequestTrace, TracedCall } from './request-trace.js';

/** Options of an {@link OperatorLife}. */
export interface OperatorLifeOptions {
  /** The client of the cluster. */
  readonly client: Client;
  readonly trace: RequestTrace;
  /** The way in which the operator dies, or in which the request fails. */
  readonly mode: Interruption['mode'];
}

/** Functions that send a call. */
export interface Sending<T> {
  /** Sends the call. @param last - true for the call of the crash, which no signal may abort */
  readonly send: (last: boolean) => Promise<T>;
  /** Returns true if the answer shows that an object was created. @defaultValue always false */
  readonly wasCreated?: (answer: T) => boolean;
}

/**
 * One process of the operator, from the view of the cluster: a client and a signal. After its death, the
 * client sends nothing; the operator's code unwinds without an effect on the cluster.
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

  /** Ends the operator: its client sends nothing from now on. */
  kill(): void {
    this.#isDead = true;
    this.#stop.abort();
  }

  /** Checks that the operator lives. @throws OperatorError `Stopped`: it is dead. */
  check(): void {
    if (this.#isDead) throw killed();
  }

  /** Sends a call, which can be the last one. */
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
    // Stops concurrent calls that have not been sent yet.
    if (mode !== 'answered') this.#isDead = true;
    const answer = mode === 'before' ? undefined : await outcomeOf(send());
    this.#isDead = true;
    // Deferred, so that the operator receives the answer first.
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

/** Returns true if `mode` makes a request fail without a crash of the operator. */
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
  return new OperatorError('Stopped', 'the operator was killed: requests are no longer sent');
}

/** Settles a promise; the result returns its value or throws its error. */
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
