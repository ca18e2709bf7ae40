import { ApiError, isApiError } from '../../object/api-error.js';
import { isDataError } from '../expression/data-error.js';

const hidden = 'what the server says may show data of a Secret';

/**
 * Redacts the errors of a controller. If its documents may include data of Secrets, errors show neither
 * values of documents nor messages of the server.
 */
export class Redaction {
  readonly #hides: () => boolean;

  /** @param hides - whether values are hidden now */
  constructor(hides: () => boolean) {
    this.#hides = hides;
  }

  /** Redacts the error of a write. */
  ofWrite(thrown: unknown): unknown {
    return this.#hides() ? hideWords(thrown) : thrown;
  }

  /** Replaces the value in a data error by its type; returns other errors unchanged. */
  ofData(error: Error): Error {
    return this.#hides() && isDataError(error) ? error.withoutValue() : error;
  }

  /** Names of objects may be shown. A text that is not a valid name may be a value, and is hidden. */
  ofSubject(subject: string | undefined): string | undefined {
    if (subject === undefined || !this.#hides()) return subject;
    const isName = subject.split(', ').every((part) => named.test(part));
    return isName ? subject : 'an object whose name is left out';
  }
}

/** Matches an object, or the alias of a source and its object. */
const named = /^(?:a document without a name|(?:[\w-]+ )?(?:[a-z0-9.-]+\/)?[\w.:~-]+)$/;

/**
 * Removes from an API error everything that may be a value of the object: the server's messages. The paths of
 * rejected fields stay. Returns other errors unchanged.
 */
function hideWords(error: unknown): unknown {
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

/** Extracts an undeclared field, which the server reports only in its message; the path has no values. */
function undeclaredIn(message: string): readonly string[] {
  const [, path] =
    /(?<![^\s:])((?:\.[A-Za-z]\w*)+): field not declared in schema/.exec(message) ?? [];
  return path === undefined ? [] : [path.slice(1)];
}
