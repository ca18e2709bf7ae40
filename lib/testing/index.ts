export { EmbeddedCluster } from '../embedded/index.js';
export type { EmbeddedClientOptions, EmbeddedClusterOptions } from '../embedded/index.js';
export { faulty } from '../client/index.js';
export type {
  FailingFault,
  Fault,
  FaultRule,
  FaultyClient,
  FaultyOptions,
} from '../client/index.js';
export { VirtualClock, seededRandom } from '../system/index.js';
export { advanceUntilIdle, eventually } from './eventually.js';
export type { AdvanceUntilIdleOptions, EventuallyOptions } from './eventually.js';
export { crashPoints } from './crash-points/crash-points.js';
export type { CrashPointsOptions } from './crash-points/crash-points.js';
export { CrashPointsError, FaultSweepError, describeRequest } from './crash-points/crash-point.js';
export { faultSweep } from './crash-points/fault-sweep.js';
export type { FaultSweepOptions } from './crash-points/fault-sweep.js';
export type { SweepOptions } from './crash-points/sweep.js';
export type {
  CrashMode,
  CrashPoint,
  CrashPointResult,
  CrashPointsReport,
  CrashProblem,
  CrashRequest,
  FaultPoint,
  FaultPointResult,
  FaultSweepReport,
  Interruption,
  PointResult,
  PointsReport,
  RequestFailure,
} from './crash-points/crash-point.js';
export type {
  CrashCluster,
  CrashScenario,
  CrashStage,
  CrashStep,
  DefaultCrashCluster,
  OperatorStage,
} from './crash-points/crash-scenario.js';
export { assertFaultsInjected, faultOn, faults } from './fault-on.js';
export type { FaultTarget } from './fault-on.js';
export { serveLocalWebhooks } from '../manager/webhooks/webhook-configurations.js';
export type {
  LocalWebhooks,
  LocalWebhooksOptions,
} from '../manager/webhooks/webhook-configurations.js';
export { assertNothingLeft, recordCreations } from './left-overs.js';
export type { AssertNothingLeftOptions, LeftOverCheck, RecordingClient } from './left-overs.js';
export { operatorAssertions } from './operator-assertions.js';
export type {
  ChaiAssertion,
  ChaiLike,
  RequestFilter,
  RequestSource,
} from './operator-assertions.js';
export { startOperator, testCluster } from './start-operator.js';
export type {
  RunningOperator,
  StartOperatorOptions,
  StartedOperator,
  TestClusterOptions,
  TestHook,
  TestHooks,
} from './start-operator.js';
