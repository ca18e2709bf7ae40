import { isJsonObject } from '../../object/json.js';
import type { ValueType } from './compiled.js';
import { DataError } from './data-error.js';

/** What an operator takes in one place. */
export interface Operand<T> {
  /** For messages, for example `a number`. */
  readonly want: string;
  /** The kinds of values that may fit. */
  readonly accepts: readonly ValueType[];
  /** @throws DataError `value` does not fit */
  readonly read: (value: unknown, operation: string) => T;
}

const allTypes: readonly ValueType[] = ['null', 'boolean', 'number', 'string', 'list', 'map'];

// A number as JSON writes it, and as Go's parser reads it: with a sign, without digits on one side.
const numberText = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Anything, null too. */
export const anything: Operand<unknown> = {
  want: 'a value',
  accepts: allTypes,
  read: (value) => value,
};

/** `true` or `false`; nothing else counts as either. */
export const condition: Operand<boolean> = {
  want: 'true or false',
  accepts: ['boolean'],
  read: (value, operation) =>
    typeof value === 'boolean' ? value : misfit(operation, condition, value),
};

/** A number, or a text that is one. */
export const number: Operand<number> = {
  want: 'a number',
  accepts: ['number', 'string'],
  read: (value, operation) => {
    const read = typeof value === 'number' ? value : numberOf(value);
    return read ?? misfit(operation, number, value);
  },
};

/** A whole number that a double keeps exactly, or a text that is one. */
export const integer: Operand<number> = {
  want: `a whole number up to ${Number.MAX_SAFE_INTEGER}`,
  accepts: ['number', 'string'],
  read: (value, operation) => {
    const read = typeof value === 'number' ? value : numberOf(value);
    return Number.isSafeInteger(read) ? (read as number) + 0 : misfit(operation, integer, value);
  },
};

/** A text. */
export const text: Operand<string> = {
  want: 'a string',
  accepts: ['string'],
  read: (value, operation) => (typeof value === 'string' ? value : misfit(operation, text, value)),
};

/** What has an obvious text: a string, a number, a boolean. */
export const printable: Operand<string> = {
  want: 'a string, a number or a boolean',
  accepts: ['string', 'number', 'boolean'],
  read: (value, operation) => {
    if (typeof value === 'string') return value;
    return typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : misfit(operation, printable, value);
  },
};

/** What has an order. */
export const ordered: Operand<number | string> = {
  want: 'a number or a string',
  accepts: ['number', 'string'],
  read: (value, operation) =>
    typeof value === 'number' || typeof value === 'string'
      ? value
      : misfit(operation, ordered, value),
};

/** A list. */
export const list: Operand<readonly unknown[]> = {
  want: 'a list',
  accepts: ['list'],
  read: (value, operation) =>
    Array.isArray(value) ? (value as unknown[]) : misfit(operation, list, value),
};

/** A map. */
export const map: Operand<Readonly<Record<string, unknown>>> = {
  want: 'a map',
  accepts: ['map'],
  read: (value, operation) => (isJsonObject(value) ? value : misfit(operation, map, value)),
};

/** A map, or null. */
export const mapOrNull: Operand<Readonly<Record<string, unknown>> | null> = {
  want: 'a map or null',
  accepts: ['map', 'null'],
  read: (value, operation) => {
    if (value === null || value === undefined) return null;
    return isJsonObject(value) ? value : misfit(operation, mapOrNull, value);
  },
};

/** The number that a text is; undefined: it is none, or `value` is no text. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || !numberText.test(value)) return undefined;
  const read = Number(value);
  return Number.isFinite(read) ? read : undefined;
}

function misfit(operation: string, { want }: Operand<unknown>, value: unknown): never {
  throw new DataError(operation, `wants ${want}`, value ?? null);
}
