export { conditionsOf } from './conditions.js';
export type { ReconcileEnd } from './conditions.js';
export type {
  BuildHandler,
  BuilderSetting,
  FinalizeHandler,
  ForOptions,
  Handled,
  KindsOf,
  ObjectContext,
  OperatorBuilderOptions,
  OperatorContext,
  OwnedTypes,
  ReconcileHandler,
  StatusDraft,
  StatusFields,
} from './contexts.js';
export { Operator } from './operator.js';
export type { OperatorOptions } from './operator.js';
export type {
  ControllerStyle,
  OperatorController,
  StyledController,
} from './operator-controller.js';
export type { OperatorRunOptions } from './run-operator.js';
export { patchStatus } from '../status/index.js';
export type { PatchStatusOptions, StatusUpdate } from '../status/index.js';
