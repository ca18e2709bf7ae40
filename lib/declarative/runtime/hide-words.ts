import { ApiError, isApiError } from '../../object/api-error.js';

const hidden = 'what the server says may show data of a Secret';

/**
 * An error of a write, without what could be a value of the object: the words of the server. Of the
 * fields that it does not like the paths stay. Other errors are as they were.
 */
export function hideWords(error: unknown): unknown {
  if (!isApiError(error)) return error;
  const { body, context, causes } = error;
  const fields = [
    ...causes.flatMap(({ field }) => field ?? []),
    ...undeclaredIn(body.message ?? ''),
  ];
  const about = fields.length === 0 ? '' : `, about ${fields.join(', ')}`;
  const details = {
    ...body.details,
    causes: causes.map(({ reason, field }) => ({
      ...(reason !== undefined && { reason }),
      ...(field !== undefined && { field }),
    })),
  };
  const message = `(left out${about}: ${hidden})`;
  return new ApiError({ ...body, message, details }, { ...context, text: undefined });
}

/** A field that the kind has not, of which the server tells in its message only: its path has no values. */
function undeclaredIn(message: string): readonly string[] {
  const [, path] =
    /(?<![^\s:])((?:\.[A-Za-z]\w*)+): field not declared in schema/.exec(message) ?? [];
  return path === undefined ? [] : [path.slice(1)];
}
