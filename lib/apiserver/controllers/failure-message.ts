import { isApiError } from '../../object/api-error.js';
import { errorMessage } from '../../system/as-error.js';

/** What the server said when it refused a write, or what else went wrong. */
export function failureMessage(error: unknown): string {
  if (isApiError(error)) return error.body.message ?? error.message;
  return errorMessage(error);
}
