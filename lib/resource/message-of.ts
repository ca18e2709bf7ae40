import { readableError } from '../controller/readable-error.js';

/**
 * What was thrown, in words: its message, those of its parts where it has none of its own, or its
 * kind. Never throws, whatever it is.
 */
export function messageOf(thrown: unknown): string {
  const readable = readableError(thrown);
  if (typeof readable !== 'object' || readable === null) return shownValue(readable);
  const { message, name } = readable as Readonly<Record<string, unknown>>;
  const said = typeof message === 'string' || readable instanceof Error ? String(message) : '';
  if (said !== '') return said;
  if (!(readable instanceof Error)) return shownValue(readable);
  return partsOf(readable) || String(name);
}

function partsOf(error: Error): string {
  if (!('errors' in error) || !Array.isArray(error.errors)) return '';
  const parts = (error.errors as unknown[]).filter((part) => part !== error);
  // One level: its parts may have it among theirs.
  return parts.map((part) => (part instanceof Error ? part.message : shownValue(part))).join('; ');
}

function shownValue(value: unknown): string {
  return typeof value === 'function' || (typeof value === 'object' && value !== null)
    ? `a value of type ${typeof value} was thrown`
    : String(value);
}
