import { EmbeddedCluster } from '../../embedded/embedded-cluster.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { OperatorError } from '../../system/operator-error.js';
import { seededRandom } from '../../system/random.js';
import type { Resolved } from '../../system/known-options.js';
import { VirtualClock } from '../../system/virtual-clock.js';
import type { LeftOverCheck } from '../left-overs.js';
import { startStep } from './crash-point.js';
import type { CrashCluster, CrashScenario } from './crash-scenario.js';

/** A {@link CrashScenario} with all defaults. */
export interface ResolvedScenario<C extends CrashCluster> extends Resolved<
  Omit<CrashScenario<C>, 'setup' | 'invariant'>
> {
  readonly setup: CrashScenario<C>['setup'];
  readonly invariant: CrashScenario<C>['invariant'];
  readonly leftOvers: LeftOverCheck | undefined;
}

/**
 * Fills in the defaults.
 * @param leftOvers - checked at the end of each run
 * @throws OperatorError `InvalidOption`: a number is out of its range, or two steps share a name.
 */
export function resolveScenario<C extends CrashCluster>(
  scenario: CrashScenario<C>,
  leftOvers?: LeftOverCheck,
): ResolvedScenario<C> {
  const { name, operator, steps, setup, invariant, kinds = [] } = scenario;
  const { ignoredKinds = ['Event', 'Lease'], timeoutMs = 600_000, steadyMs = 60_000 } = scenario;
  const { comparable = (object: UnstructuredObject) => object } = scenario;
  // A scenario without `cluster` has the type of the default cluster.
  const { cluster = defaultCluster as () => Promise<CrashCluster> as () => Promise<C> } = scenario;
  for (const [option, value] of Object.entries({ timeoutMs, steadyMs })) {
    if (value >= 1) continue;
    throw new OperatorError('InvalidOption', `${name}: ${option}: want at least 1, got ${value}`);
  }
  const names = [startStep, ...steps.map((step) => step.name)];
  const twice = names.find((each, at) => names.indexOf(each) !== at);
  if (twice !== undefined) {
    throw new OperatorError('InvalidOption', `${name}: two steps are called ${twice}`);
  }
  return {
    ...{ name, operator, steps, setup, invariant, kinds, leftOvers },
    ...{ ignoredKinds, timeoutMs, steadyMs, comparable, cluster },
  };
}

function defaultCluster(): Promise<EmbeddedCluster<VirtualClock>> {
  const clock = new VirtualClock();
  return EmbeddedCluster.start({ simulateWorkloads: true, clock, random: seededRandom(1) });
}
