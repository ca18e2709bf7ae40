import type { CrashMode, CrashPoint, CrashPointsReport } from './crash-point.js';
import { CrashPointsError } from './crash-point.js';
import type { CrashCluster, CrashScenario, DefaultCrashCluster } from './crash-scenario.js';
import { playSweep } from './sweep.js';
import type { Sweep, SweepOptions } from './sweep.js';

/** Options of {@link crashPoints}. */
export type CrashPointsOptions = SweepOptions<CrashPoint>;

const allModes: readonly CrashMode[] = ['before', 'unanswered', 'answered'];

/**
 * Checks that an operator can be killed at any moment. It plays `scenario` without a crash, to count the
 * operator's requests. Then it plays the scenario once for each request, each time on a fresh cluster. The
 * operator dies at that request, is restarted, and has to reach the same final state.
 *
 * ## Checks
 * After the step of the crash, compared with the same moment of the uninterrupted run:
 * - The objects of every kind that the operator writes are the same, in every field and field manager. So
 *   there is no orphan, no missing object and no leftover finalizer.
 * - Objects that live through the step keep their UID, and no object is created twice.
 *
 * Without a comparison:
 * - No write happens for `steadyMs` after the work is done, and a restarted operator writes nothing.
 * - The scenario's `invariant` holds at the crash and after each step.
 *
 * ## Caveats
 * The run ends with the step of the crash. The operator dies in its client, which sends no more requests, and
 * its signals and those of its handlers are aborted. The next operator starts when the handlers have ended,
 * after 5 s of real time at the latest.
 * @throws CrashPointsError if some crash points failed; it names each, and has the report.
 * @throws OperatorError `InvalidOption`: no point matches `only`, the scenario is invalid, or an option is
 * unknown or out of its range.
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
  // For all other requests, a crash in this mode has the same effect as a crash at another point: see CrashMode.
  differs: ({ request, write }, mode) =>
    ({ before: request === 1 || write, unanswered: write, answered: true })[mode],
  failed: (report, own) => new CrashPointsError(report, own),
};
