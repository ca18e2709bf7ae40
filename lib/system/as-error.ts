import { inspect } from 'node:util';

/** Rejected promises that a plan already reports. Nothing awaits them, and they must not end the process. */
export const reportedRejections = new WeakSet<Promise<unknown>>();

/** Returns the thrown value as an `Error`; a value that is not an error becomes the message. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(errorMessage(thrown));
}

/** Returns the message of a thrown value, which can be anything, even a value without a message. */
export function errorMessage(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  try {
    const text = String(thrown);
    if (thrown === undefined || thrown === null || thrown === '') {
      return `${text || 'an empty string'} was thrown, not an error`;
    }
    return typeof thrown === 'object' && text === '[object Object]' ? textOf(thrown) : text;
  } catch {
    return `a thrown ${typeof thrown} without a message`;
  }
}

/** Returns the message of a plain object; else the names of its fields, because their values may be secret. */
function textOf(thrown: object): string {
  if ('message' in thrown && typeof thrown.message === 'string') return thrown.message;
  return `a thrown object with ${Object.keys(thrown).join(', ') || 'no fields'}`;
}

/** Returns a text without line breaks. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ');
}

/**
 * Cuts `text` to `length` UTF-16 units, but never within a surrogate pair: the server would store a
 * replacement character.
 */
export function cutCharacters(text: string, length: number): string {
  return text.length > length ? text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '') : text;
}

/**
 * Returns `text`. If it is longer than `length`, cuts it as {@link cutCharacters} does, and appends an
 * ellipsis.
 */
export function shortened(text: string, length: number): string {
  return text.length > length ? `${cutCharacters(text, length)}…` : text;
}

/** Returns JSON; other text for a value without a JSON form, such as a cycle or a BigInt. */
export function jsonOrInspected(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return inspect(value, { breakLength: Infinity });
  }
}
