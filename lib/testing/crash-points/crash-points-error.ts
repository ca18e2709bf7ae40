import { OperatorError } from '../../system/operator-error.js';
import { describeRequest } from './crash-point.js';
import type { CrashPointResult, CrashPointsReport, CrashProblem } from './crash-point.js';

const mostShown = 10;

/** Some crash points failed, or the scenario itself did without a crash. */
export class CrashPointsError extends OperatorError {
  readonly report: CrashPointsReport;

  /** @param own - what is wrong with the uninterrupted run */
  constructor(report: CrashPointsReport, own: readonly CrashProblem[] = []) {
    super('CrashPointFailed', own.length > 0 ? messageOfRun(report, own) : messageOf(report));
    this.report = report;
  }
}

function messageOfRun({ scenario }: CrashPointsReport, problems: readonly CrashProblem[]): string {
  return `${scenario}: it fails without a crash:${listOf(problems)}`;
}

function messageOf({ scenario, results }: CrashPointsReport): string {
  const failed = results.filter(({ problems }) => problems.length > 0);
  const shown = failed.slice(0, mostShown).map(describeResult);
  const rest = failed.length > mostShown ? [`… and ${failed.length - mostShown} more`] : [];
  const head = `${scenario}: ${failed.length} of ${results.length} crash points failed`;
  return [head, ...shown, ...rest].join('\n');
}

function describeResult({ point, request, problems }: CrashPointResult): string {
  const { step, mode } = point;
  const what = request === undefined ? 'never reached' : describeRequest(request);
  const where = `${step}, request ${point.request} (${what}), ${mode}`;
  const again = `only: { step: '${step}', request: ${point.request}, mode: '${mode}' }`;
  return `- ${where}:${listOf(problems)}\n    alone: crashPoints(scenario, { ${again} })`;
}

function listOf(problems: readonly CrashProblem[]): string {
  return problems.map(({ type, message }) => `\n    ${type}: ${message}`).join('');
}
