import type { Chain } from './chain.js';
import type { RunContext } from './context.js';
import type { Plan } from './plan-types.js';
import { OperatorError } from '../system/operator-error.js';

export function makePlan(_context: RunContext, _chain: Chain): Promise<Plan> {
  throw new OperatorError('Stopped', 'not there yet');
}
