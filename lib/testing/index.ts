/*
 * The testing kit of operators.
 *
 * Read `start-operator.ts` (an operator on an embedded cluster) and `eventually.ts` (waits by a clock).
 * `operator-assertions.ts` extends chai; `fault-on.ts` makes requests fail; `left-overs.ts` finds objects that
 * a deletion left; `round-trips.ts` converts random objects to other versions and back. `crash-points/` kills an
 * operator at each of its requests: read `crash-scenario.ts`, then `sweep.ts` (all points), `play.ts` (one run)
 * and `operator-life.ts` (one process).
 */
export { EmbeddedCluster } from '../apiserver/index.js';
export { faulty } from '../client/index.js';
export type { FaultRule, FaultyClient, InjectedFault } from '../client/index.js';
export { VirtualClock, seededRandom } from '../system/index.js';
export type { Random } from '../system/index.js';
export { advanceUntilIdle, eventually } from './eventually.js';
export { crashPoints } from './crash-points/crash-points.js';
export { CrashPointsError, FaultSweepError } from './crash-points/crash-point.js';
export { faultSweep } from './crash-points/fault-sweep.js';
export type { CrashPointsReport, FaultSweepReport } from './crash-points/crash-point.js';
export type { CrashCluster, CrashScenario } from './crash-points/crash-scenario.js';
export { assertFaultsInjected, faultOn, faults } from './fault-on.js';
export { serveLocalWebhooks } from '../manager/index.js';
export type { LocalWebhooks } from '../manager/index.js';
export { assertNothingLeft, recordCreations } from './left-overs.js';
export type { RecordingClient } from './left-overs.js';
export { operatorAssertions } from './operator-assertions.js';
export { assertRoundTrips } from './round-trips.js';
export { startOperator, testCluster } from './start-operator.js';
export type { RunningOperator, StartedOperator } from './start-operator.js';
