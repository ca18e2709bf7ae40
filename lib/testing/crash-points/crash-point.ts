import { describeCall } from '../../client/index.js';
import { OperatorError } from '../../system/index.js';

/**
 * The moment at which the operator dies. As after SIGKILL, it sends no more requests.
 * - `before`: the request is not sent, but all calls outside of the cluster before it were. Tried for writes, and
 *   for the first request of each step: any other read equals `answered` at the previous request.
 * - `unanswered`: the request takes effect, but its answer is lost, and concurrent requests are not sent.
 *   Tried only for writes, because a read changes nothing.
 * - `answered`: the operator receives the answer, and concurrent requests take effect.
 */
export type CrashMode = 'before' | 'unanswered' | 'answered';

/** A point in a scenario at which the operator dies. */
export interface CrashPoint {
  /** The step; `start` is the operator's start, before the first step. */
  readonly step: string;
  /** The number of the request in the step, from 1. */
  readonly request: number;
  readonly mode: CrashMode;
}

/**
 * The way in which a request fails once, while the operator continues.
 * - `conflict`: 409, for writes only; the server writes nothing.
 * - `serverError`: 500; the server writes nothing.
 * - `resetBefore`: the connection breaks before the request arrives.
 * - `resetAfter`: the server carries out the request, but its answer is lost. For writes only, because a lost
 *   read equals one that never arrived.
 * - `timeout`: no answer arrives in time, and the server writes nothing.
 */
export type RequestFailure = 'conflict' | 'serverError' | 'resetBefore' | 'resetAfter' | 'timeout';

/** A request of a scenario that fails once. */
export interface FaultPoint {
  /** The step; `start` is the operator's start, before the first step. */
  readonly step: string;
  /** The number of the request in the step, from 1. */
  readonly request: number;
  readonly mode: RequestFailure;
}

/** A point at which a run of a scenario is interrupted. */
export type Interruption = CrashPoint | FaultPoint;

/** The name of the step in which the operator starts. */
export const startStep = 'start';

/** A request of the operator. Starts of watches and discovery do not count. */
export interface CrashRequest {
  readonly step: string;
  /** The number of the request in the step, from 1. */
  readonly request: number;
  readonly verb: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  /** The name of the object; ends in `*` if the server generates it. */
  readonly name?: string | undefined;
  readonly write: boolean;
  /** True if the request created an object. */
  readonly created: boolean;
}

/** Describes a request: `apply ConfigMap shop/env`, `apply ParseableTenant/status shop/logs`. */
export function describeRequest(request: Omit<CrashRequest, 'created'>): string {
  const { verb, kind, subresource, namespace, name } = request;
  const what = subresource === undefined ? kind : `${kind}/${subresource}`;
  return describeCall({ verb, kind: what, namespace, name });
}

/** A problem that a crash or a failed request caused. */
export interface CrashProblem {
  readonly type:
    /** The step did not complete in time, or the operator ended on its own. */
    | 'notConverged'
    /** The run sent no such request, although the uninterrupted run did: nothing was interrupted. */
    | 'notReached'
    /** An object exists that the uninterrupted run does not have. */
    | 'orphan'
    /** An object of the uninterrupted run is missing. */
    | 'missing'
    /** The object exists, but has another UID than before the interruption. */
    | 'replaced'
    /** The object was created more often than in the uninterrupted run. */
    | 'createdTwice'
    /** The object differs from that of the uninterrupted run. */
    | 'differs'
    /** The object should be gone, but a finalizer holds it. */
    | 'finalizerLeft'
    /** The operator wrote something after all work was done. */
    | 'writesWhenConverged'
    /** The owner is gone, but an object that the operator created for it remains. */
    | 'leftOver'
    /** The scenario's invariant does not hold. */
    | 'invariant';
  /** A description that names the object and the problem. */
  readonly message: string;
}

/** Result of a run that was interrupted at one point. */
export interface PointResult<P extends Interruption> {
  readonly point: P;
  /** The interrupted request; undefined if the run did not reach the point. */
  readonly request: CrashRequest | undefined;
  /** The problems; empty if the operator recovered. */
  readonly problems: readonly CrashProblem[];
}

/** Results of all runs of a scenario. */
export interface PointsReport<P extends Interruption> {
  readonly scenario: string;
  /** The requests of the uninterrupted run, in order. */
  readonly requests: readonly CrashRequest[];
  readonly results: readonly PointResult<P>[];
}

/** Results of all crash points. */
export type CrashPointsReport = PointsReport<CrashPoint>;
/** Results of all requests that failed. */
export type FaultSweepReport = PointsReport<FaultPoint>;

const mostShown = 10;

/** Some crash points failed, or the uninterrupted run failed. */
export class CrashPointsError extends OperatorError {
  readonly report: CrashPointsReport;

  /** @param own - problems of the uninterrupted run */
  constructor(report: CrashPointsReport, own: readonly CrashProblem[] = []) {
    const words = {
      call: 'crashPoints',
      failed: 'crash points failed',
      without: 'without a crash',
    };
    super('CrashPointFailed', messageOf(report, own, words));
    this.report = report;
  }
}

/** An operator did not recover from some failed requests, or the uninterrupted run failed. */
export class FaultSweepError extends OperatorError {
  readonly report: FaultSweepReport;

  /** @param own - problems of the uninterrupted run */
  constructor(report: FaultSweepReport, own: readonly CrashProblem[] = []) {
    const words = {
      call: 'faultSweep',
      failed: 'failures broke the operator',
      without: 'without a failed request',
    };
    super('FaultSweepFailed', messageOf(report, own, words));
    this.report = report;
  }
}

interface Words {
  readonly call: string;
  readonly failed: string;
  readonly without: string;
}

function messageOf<P extends Interruption>(
  { scenario, results }: PointsReport<P>,
  own: readonly CrashProblem[],
  { call, failed: verdict, without }: Words,
): string {
  if (own.length > 0) return `${scenario}: it fails ${without}:${listOf(own)}`;
  const failed = results.filter(({ problems }) => problems.length > 0);
  const shown = failed.slice(0, mostShown).map((result) => describeResult(result, call));
  const rest = failed.length > mostShown ? [`… and ${failed.length - mostShown} more`] : [];
  const head = `${scenario}: ${failed.length} of ${results.length} ${verdict}`;
  return [head, ...shown, ...rest].join('\n');
}

function describeResult<P extends Interruption>(
  { point, request, problems }: PointResult<P>,
  call: string,
): string {
  const { step, mode } = point;
  const what = request === undefined ? 'never reached' : describeRequest(request);
  const where = `${step}, request ${point.request} (${what}), ${mode}`;
  const again = `only: { step: '${step}', request: ${point.request}, mode: '${mode}' }`;
  return `- ${where}:${listOf(problems)}\n    alone: ${call}(scenario, { ${again} })`;
}

function listOf(problems: readonly CrashProblem[]): string {
  return problems.map(({ type, message }) => `\n    ${type}: ${message}`).join('');
}
