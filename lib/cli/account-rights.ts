import { readableMessage } from '../feed/index.js';
import { forbiddenRemedy } from '../object/index.js';
import { OperatorError, asError } from '../system/index.js';

/** The remedy of a plan that the API server refuses. */
export const planRemedy =
  'the plan has the rights of your kubeconfig or of --as, and needs those of the operator: choose an account that has them, with --context or --as';

/** The remedy of a run on a cluster whose API server refuses it. */
export const runRemedy =
  'the operator runs with the rights of your kubeconfig or of --as: choose an account that has the rights it needs, with --context or --as';

/**
 * Returns the error of a command that has the rights of the user's account. If the API server refused a request,
 * the message ends with the remedy, and not with that of a deployed operator.
 */
export function accountError(thrown: unknown, remedy: string): Error {
  const error = asError(thrown);
  const message = readableMessage(error);
  if (!message.includes(forbiddenRemedy)) return error;
  const said = message.replaceAll(forbiddenRemedy, remedy);
  return new OperatorError('MissingPermission', said, { cause: error });
}
