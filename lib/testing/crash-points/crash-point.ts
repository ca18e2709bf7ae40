import { describeCall } from '../../client/call.js';

/**
 * Where the operator dies, as by SIGKILL: nothing more is sent.
 * - `before`: the request is not sent. Tried for the first of each step only: later it is the same as
 *   `unanswered` at the one before.
 * - `unanswered`: the request has taken effect, its answer is never seen, and nothing else that was
 *   about to be sent beside it is. Tried for writes only: what reads leave is the same as before them.
 * - `answered`: its answer is seen, and what was sent beside it takes effect.
 */
export type CrashMode = 'before' | 'unanswered' | 'answered';

/** One place in a scenario at which the operator dies. */
export interface CrashPoint {
  /** The step; `start` is the operator's start, before the first. */
  readonly step: string;
  /** Which request of the step it is, from 1. */
  readonly request: number;
  readonly mode: CrashMode;
}

/**
 * How a request fails once, while the operator goes on.
 * - `conflict`: 409, for writes only; nothing is written.
 * - `serverError`: 500; nothing is written.
 * - `resetBefore`: the connection breaks before the request arrives.
 * - `resetAfter`: the server carries the request out, and its answer is lost; for writes only, as a read
 *   that is lost is the same as one that never arrived.
 * - `timeout`: no answer comes in time, and nothing is written.
 */
export type RequestFailure = 'conflict' | 'serverError' | 'resetBefore' | 'resetAfter' | 'timeout';

/** One request of a scenario that fails once. */
export interface FaultPoint {
  /** The step; `start` is the operator's start, before the first. */
  readonly step: string;
  /** Which request of the step it is, from 1. */
  readonly request: number;
  readonly mode: RequestFailure;
}

/** Where a run of a scenario is interrupted. */
export type Interruption = CrashPoint | FaultPoint;

/** The step that begins with the operator's start. */
export const startStep = 'start';

/** A request of the operator. Starts of watches and discovery are none. */
export interface CrashRequest {
  readonly step: string;
  /** Which request of the step it is, from 1. */
  readonly request: number;
  readonly verb: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  /** With a `*` at its end where the server makes it up. */
  readonly name?: string | undefined;
  readonly write: boolean;
  /** Whether it has made an object. */
  readonly created: boolean;
}

/** `apply ConfigMap shop/env`, `apply ParseableTenant/status shop/logs`. */
export function describeRequest(request: Omit<CrashRequest, 'created'>): string {
  const { verb, kind, subresource, namespace, name } = request;
  const what = subresource === undefined ? kind : `${kind}/${subresource}`;
  return describeCall({ verb, kind: what, namespace, name });
}

/** What a crash or a failed request broke. */
export interface CrashProblem {
  readonly type:
    /** The step was not carried out in its time, or the operator ended by itself. */
    | 'notConverged'
    /** An object is there that is not in the uninterrupted run. */
    | 'orphan'
    /** An object of the uninterrupted run is not there. */
    | 'missing'
    /** It is there, but is not the one that was there before the interruption. */
    | 'replaced'
    /** It was made more often than in the uninterrupted run. */
    | 'createdTwice'
    /** It is not as it is in the uninterrupted run. */
    | 'differs'
    /** It should be gone, but a finalizer holds it. */
    | 'finalizerLeft'
    /** Something was written after all had been done. */
    | 'writesWhenConverged'
    /** The owner is gone, and an object that the operator created for it is not. */
    | 'leftOver'
    /** The scenario's own invariant does not hold. */
    | 'invariant';
  /** For people; names the object and what is wrong. */
  readonly message: string;
}

/** Result of the run that was interrupted at one point. */
export interface PointResult<P extends Interruption> {
  readonly point: P;
  /** The request that was interrupted; undefined: this run never came so far. */
  readonly request: CrashRequest | undefined;
  /** Empty: the operator has come through. */
  readonly problems: readonly CrashProblem[];
}

/** Results of all runs of a scenario. */
export interface PointsReport<P extends Interruption> {
  readonly scenario: string;
  /** The requests of the uninterrupted run, in order. */
  readonly requests: readonly CrashRequest[];
  readonly results: readonly PointResult<P>[];
}

/** Result of one {@link CrashPoint}. */
export type CrashPointResult = PointResult<CrashPoint>;
/** Results of all crash points. */
export type CrashPointsReport = PointsReport<CrashPoint>;
/** Result of one {@link FaultPoint}. */
export type FaultPointResult = PointResult<FaultPoint>;
/** Results of all requests that failed. */
export type FaultSweepReport = PointsReport<FaultPoint>;
