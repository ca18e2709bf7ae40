import { readableError } from '../controller/index.js';

/**
 * Describes a thrown value: its message, else the messages of its parts, else its name or type. Never throws,
 * whatever the value.
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
  // One level only: an error may contain itself.
  return parts.map((part) => (part instanceof Error ? part.message : shownValue(part))).join('; ');
}

function shownValue(value: unknown): string {
  return typeof value === 'function' || (typeof value === 'object' && value !== null)
    ? `a value of type ${typeof value} was thrown`
    : String(value);
}
