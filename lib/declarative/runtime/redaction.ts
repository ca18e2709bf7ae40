import { ApiError, isApiError } from '../../object/api-error.js';
import { isDataError } from '../expression/data-error.js';

const hidden = 'what the server says may show data of a Secret';

/**
 * What the errors of a controller may show: where data of Secrets may be among its documents, neither
 * values of documents nor what the server says of them.
 */
export class Redaction {
  readonly #hides: () => boolean;

  /** @param hides - whether values are hidden now */
  constructor(hides: () => boolean) {
    this.#hides = hides;
  }

  /** What a write failed with. */
  ofWrite(thrown: unknown): unknown {
    return this.#hides() ? hideWords(thrown) : thrown;
  }

  /** A data error with the kind of the value in its place; other errors are as they are. */
  ofData(error: Error): Error {
    return this.#hides() && isDataError(error) ? error.withoutValue() : error;
  }

  /** The names of objects are no values; what could be no name may have been meant for one. */
  ofSubject(subject: string | undefined): string | undefined {
    if (subject === undefined || !this.#hides()) return subject;
    const isName = subject.split(', ').every((part) => named.test(part));
    return isName ? subject : 'an object whose name is left out';
  }
}

/** An object, or the alias of a source and its object. */
const named = /^(?:a document without a name|(?:[\w-]+ )?(?:[a-z0-9.-]+\/)?[\w.:~-]+)$/;

/**
 * An error of a write, without what could be a value of the object: the words of the server. Of the
 * fields that it does not like the paths stay. Other errors are as they were.
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

/** A field that the kind has not, of which the server tells in its message only: its path has no values. */
function undeclaredIn(message: string): readonly string[] {
  const [, path] =
    /(?<![^\s:])((?:\.[A-Za-z]\w*)+): field not declared in schema/.exec(message) ?? [];
  return path === undefined ? [] : [path.slice(1)];
}
