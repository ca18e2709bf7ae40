import { isApiError } from '../../object/api-error.js';
import { errorMessage } from '../../system/as-error.js';

/** Returns the server's message for a refused write, or the message of any other error. */
export function failureMessage(error: unknown): string {
  if (isApiError(error)) return error.body.message ?? error.message;
  return errorMessage(error);
}
