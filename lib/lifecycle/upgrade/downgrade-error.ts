import { OperatorError, isOperatorError } from '../../system/operator-error.js';

/** A newer operator has deployed the configuration. */
export class DowngradeError extends OperatorError {
  /** The requested version. */
  readonly target: string;
  /** The version that is deployed. */
  readonly current: string;

  constructor(target: string, current: string) {
    super(
      'Downgrade',
      `version ${current} is deployed, and ${target} is older: run the operator of ${current} or a newer one`,
    );
    this.target = target;
    this.current = current;
  }
}

/** Whether `error` is a {@link DowngradeError}. */
export function isDowngrade(error: unknown): error is DowngradeError {
  return isOperatorError(error, 'Downgrade');
}
