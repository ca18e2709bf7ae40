export { crashPoints } from './crash-points/crash-points.js';
export type { CrashPointsOptions } from './crash-points/crash-points.js';
export { CrashPointsError } from './crash-points/crash-points-error.js';
export type {
  CrashMode,
  CrashPoint,
  CrashPointResult,
  CrashPointsReport,
  CrashProblem,
  CrashRequest,
} from './crash-points/crash-point.js';
export type {
  CrashCluster,
  CrashScenario,
  CrashStage,
  CrashStep,
  DefaultCrashCluster,
  OperatorStage,
} from './crash-points/crash-scenario.js';
