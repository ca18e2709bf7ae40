export type {
  DeclarativeControllerListener,
  DeclarativeControllerStatus,
  ReportedError,
} from './reported-errors.js';
export { DeclarativeController } from './declarative-controller.js';
export type { StopControllerOptions } from './declarative-controller.js';
export type { DeclarativeControllerOptions } from './controller-options.js';
export type { GrowthLimit } from './feedback-brake.js';
