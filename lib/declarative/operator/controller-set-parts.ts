import type { Logger } from '../../system/logger.js';
import type { DeclarativeControllerListener } from '../runtime/controller-status.js';
import type { DeclarativeManager } from '../views/index.js';

/** Values that the controllers of an operator share. */
export interface ControllerSetParts extends DeclarativeControllerListener {
  /** The name of the operator. */
  readonly operator: string;
  readonly manager: DeclarativeManager;
  readonly logger: Logger;
}
