/*
 * A declarative operator: its controllers, which start, change and stop together.
 *
 * Read `operator-plan.ts` (a specification becomes controllers), `operator.ts` and `controller-set.ts` (the
 * controllers of one operator). `group.ts` runs several operators; `error-stream.ts` and
 * `operator-status.ts` report their errors. `operator-access.ts` computes the access that a role has to grant.
 */
export { ErrorStream, statusChannelBufferSize } from './error-stream.js';
export { Group } from './group.js';
export { DeclarativeOperator } from './operator.js';
export type { OperatorInput } from './operator-plan.js';
