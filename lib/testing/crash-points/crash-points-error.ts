import { OperatorError } from '../../system/operator-error.js';
import { describeRequest } from './crash-point.js';
import type {
  CrashPointsReport,
  CrashProblem,
  FaultSweepReport,
  Interruption,
  PointResult,
  PointsReport,
} from './crash-point.js';

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
