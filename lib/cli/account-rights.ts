import { readableMessage } from '../../feed/index.js';
import { forbiddenRemedy } from '../../object/index.js';
import { OperatorError, asError } from '../../system/index.js';

const remedy =
  'the plan has the rights of your kubeconfig or of --as, and needs those of the operator: choose an account that has them, with --context or --as';

/** Returns the error of a plan. If the API server refused a request, the message names the account of the plan. */
export function planError(thrown: unknown): Error {
  const error = asError(thrown);
  const message = readableMessage(error);
  if (!message.includes(forbiddenRemedy)) return error;
  const said = message.replaceAll(forbiddenRemedy, remedy);
  return new OperatorError('MissingPermission', said, { cause: error });
}
