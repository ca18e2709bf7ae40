import { OperatorError } from '../system/operator-error.js';
import type { BuilderSettings } from './builder-options.js';
import type { Link } from './link.js';
import type { Plan } from './plan-types.js';
import type { ObjectResult } from './results.js';
import { InternalStore } from '../store/internal-store.js';

export class Run {
  constructor(_settings: BuilderSettings, _links: readonly Link[]) {}
  reconcileAll(): Promise<readonly ObjectResult[]> {
    throw new OperatorError('Stopped', 'not there yet');
  }
  reconcileStage(_stage: string): Promise<readonly ObjectResult[]> {
    throw new OperatorError('Stopped', 'not there yet');
  }
  prune(): Promise<readonly ObjectResult[]> {
    throw new OperatorError('Stopped', 'not there yet');
  }
  plan(): Promise<Plan> {
    throw new OperatorError('Stopped', 'not there yet');
  }
  store(): InternalStore {
    return new InternalStore();
  }
}
