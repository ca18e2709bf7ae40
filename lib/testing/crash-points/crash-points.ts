import type { CrashMode, CrashPoint, CrashPointsReport } from './crash-point.js';
import { CrashPointsError } from './crash-points-error.js';
import type { CrashCluster, CrashScenario, DefaultCrashCluster } from './crash-scenario.js';
import { playSweep } from './sweep.js';
import type { Sweep, SweepOptions } from './sweep.js';

/** Options of {@link crashPoints}. */
export type CrashPointsOptions = SweepOptions<CrashPoint>;

const allModes: readonly CrashMode[] = ['before', 'unanswered', 'answered'];

/**
 * Shows that an operator can be killed at any moment: plays `scenario` without a crash, to count the
 * operator's requests, and then once for each of them, each time on a fresh cluster: the operator
 * dies there, is started again, and has to come to the same end.
 *
 * ## What is checked
 * After the step of the crash, against the same moment of the uninterrupted run: the objects of every
 * kind that the operator writes are the same, field by field and manager by manager (so: no orphan,
 * nothing missing, no finalizer left); what lived through the step still has its UID; nothing was made
 * twice. And by itself: nothing is written for `steadyMs` once all is done, nothing by an operator that
 * is started once more, and the scenario's own `invariant` holds at the crash and after each step.
 *
 * ## Caveats
 * The run ends with the step of the crash. An operator is killed by its client, which sends no more:
 * what it does outside of the cluster goes on until its signal ends it.
 * @throws CrashPointsError where one of them failed; it names each, and has the report.
 * @throws OperatorError `InvalidOption`: no point is as `only` says, or the scenario is wrong,
 * or an option is unknown or out of its range.
 */
export async function crashPoints<C extends CrashCluster = DefaultCrashCluster>(
  scenario: CrashScenario<C>,
  options: CrashPointsOptions = {},
): Promise<CrashPointsReport> {
  return playSweep(scenario, options, sweep);
}

const sweep: Sweep<CrashPoint> = {
  call: 'crashPoints',
  allModes,
  // See CrashMode.
  differs: ({ request, write }, mode) =>
    ({ before: request === 1, unanswered: write, answered: true })[mode],
  failed: (report, own) => new CrashPointsError(report, own),
};
