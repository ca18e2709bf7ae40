import { isBookkeeping } from '../../object/index.js';
import type { FaultPoint, FaultSweepReport, RequestFailure } from './crash-point.js';
import { FaultSweepError } from './crash-point.js';
import type { CrashCluster, CrashScenario, DefaultCrashCluster } from './crash-scenario.js';
import { playSweep } from './sweep.js';
import type { Sweep, SweepOptions } from './sweep.js';

/** Options of {@link faultSweep}. */
export type FaultSweepOptions = SweepOptions<FaultPoint>;

const allModes: readonly RequestFailure[] = [
  ...(['conflict', 'serverError', 'resetBefore', 'resetAfter', 'timeout'] as const),
];

/**
 * Checks that an operator recovers from a failed request. It plays `scenario` without a failure, to count the
 * operator's requests. Then it plays the scenario once for each request and each kind of failure, each time
 * on a fresh cluster. The request fails once, the operator continues, and has to reach the same final state.
 *
 * It finds swallowed errors, creates that do not expect an existing object, and work that is recorded before
 * it is done. The checks are those of `crashPoints`; the `invariant` is also checked right after the failure.
 * The manager's own requests do not fail: access and token reviews, leases, events, and look-ups of
 * CustomResourceDefinitions.
 * @throws FaultSweepError if some failures broke the operator; it names each, and has the report.
 * @throws OperatorError `InvalidOption`: no point matches `only`, the scenario is invalid, or an option is
 * unknown or out of its range.
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
