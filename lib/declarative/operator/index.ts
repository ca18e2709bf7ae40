/*
 * A declarative operator: its controllers, which start, change and stop together.
 *
 * Read `operator-plan.ts` (a specification becomes controllers), `operator.ts` and `controller-set.ts` (the
 * controllers of one operator). `group.ts` runs several operators; `error-stream.ts` and
 * `operator-status.ts` report their errors. `operator-access.ts` computes the access that a role has to grant.
 */
export type { FormerController } from '../runtime/clean-up-target.js';
export type { CleanUpPolicy, OperatorController } from './controller-set.js';
export { ErrorStream, statusChannelBufferSize } from './error-stream.js';
export type { ErrorStreamOptions } from './error-stream.js';
export { Group } from './group.js';
export type { GroupOptions } from './group.js';
export { DeclarativeOperator } from './operator.js';
export type { OperatorChangeOptions, OperatorOptions, ViewsServer } from './operator.js';
export type { OperatorInput } from './operator-plan.js';
