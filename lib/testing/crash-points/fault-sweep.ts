import { isBookkeeping } from '../../object/bookkeeping.js';
import type { FaultPoint, FaultSweepReport, RequestFailure } from './crash-point.js';
import { FaultSweepError } from './crash-points-error.js';
import type { CrashCluster, CrashScenario, DefaultCrashCluster } from './crash-scenario.js';
import { playSweep } from './sweep.js';
import type { Sweep, SweepOptions } from './sweep.js';

/** Options of {@link faultSweep}. */
export type FaultSweepOptions = SweepOptions<FaultPoint>;

const allModes: readonly RequestFailure[] = [
  ...(['conflict', 'serverError', 'resetBefore', 'resetAfter', 'timeout'] as const),
];

/**
 * Shows that an operator gets over a request that fails: plays `scenario` without a failure, to count the
 * operator's requests, and then once for each of them and each way to fail, each time on a fresh
 * cluster. The request fails once, the operator goes on, and has to come to the same end.
 *
 * It finds errors that are swallowed, creates that do not expect their object to exist, and work that
 * is noted before it is done. What is checked is the same as for `crashPoints`; the `invariant` is
 * checked right after the failure, too. The manager's own bookkeeping does not fail: access and token
 * reviews, leases, events, and look-ups of CustomResourceDefinitions.
 * @throws FaultSweepError where some failures broke the operator; it names each, and has the report.
 * @throws OperatorError `InvalidOption`: no point is as `only` says, or the scenario is wrong,
 * or an option is unknown or out of its range.
 */
export async function faultSweep<C extends CrashCluster = DefaultCrashCluster>(
  scenario: CrashScenario<C>,
  options: FaultSweepOptions = {},
): Promise<FaultSweepReport> {
  return playSweep(scenario, options, sweep);
}

const sweep: Sweep<FaultPoint> = {
  call: 'faultSweep',
  allModes,
  differs: ({ verb, kind, write }, mode) => {
    if (isBookkeeping(verb, kind)) return false;
    return write || (mode !== 'conflict' && mode !== 'resetAfter');
  },
  failed: (report, own) => new FaultSweepError(report, own),
};
