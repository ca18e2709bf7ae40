import { isApiError } from '../../object/api-error.js';

/** What the server said when it refused a write, or what else went wrong. */
export function failureMessage(error: unknown): string {
  if (isApiError(error)) return error.body.message ?? error.message;
  return error instanceof Error ? error.message : String(error);
}
