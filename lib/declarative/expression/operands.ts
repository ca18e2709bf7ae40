import { isJsonObject } from '../../object/json.js';
import type { ValueType } from './compiled.js';
import { DataError } from './data-error.js';

/** The requirements for one operand of an operator. */
export interface Operand<T> {
  /** Description for messages, for example `a number`. */
  readonly want: string;
  /** The types of values that may fit. */
  readonly accepts: readonly ValueType[];
  /** @throws DataError `value` does not fit */
  readonly read: (value: unknown, operation: string) => T;
}

const allTypes: readonly ValueType[] = ['null', 'boolean', 'number', 'string', 'list', 'map'];

// A number in JSON syntax or that of Go's parser: with a sign, or without digits on one side.
const numberText = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Any value, including null. */
export const anything: Operand<unknown> = {
  want: 'a value',
  accepts: allTypes,
  read: (value) => value,
};

/** `true` or `false`; no other value counts as a boolean. */
export const condition: Operand<boolean> = {
  want: 'true or false',
  accepts: ['boolean'],
  read: (value, operation) =>
    typeof value === 'boolean' ? value : misfit(operation, condition, value),
};

/** A number, or a numeric text. */
export const number: Operand<number> = {
  want: 'a number',
  accepts: ['number', 'string'],
  read: (value, operation) => {
    const read = typeof value === 'number' ? value : numberOf(value);
    return read ?? misfit(operation, number, value);
  },
};

/** An integer that a double represents exactly, or a text of one. */
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

/** A value with an obvious text form: a string, a number, a boolean. */
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

/** A value with an order. */
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

/** Returns the number of a numeric text; undefined for any other value. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || !numberText.test(value)) return undefined;
  const read = Number(value);
  return Number.isFinite(read) ? read : undefined;
}

function misfit(operation: string, { want }: Operand<unknown>, value: unknown): never {
  throw new DataError(operation, `wants ${want}`, value ?? null);
}
