import { isApiError } from '../../object/api-error.js';
import { errorMessage } from '../../system/as-error.js';

/** Formats milliseconds since 1970 as Kubernetes does: RFC 3339 with whole seconds. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Returns the milliseconds since 1970 of an RFC 3339 time, or 0 if it is absent or invalid. */
export function timestampMs(time: string | undefined): number {
  const ms = time === undefined ? NaN : Date.parse(time);
  return Number.isNaN(ms) ? 0 : ms;
}

/** Rounding of a percentage by {@link intOrPercent}. */
type Rounding = 'up' | 'down';

/**
 * Returns the number of an int-or-string field, which is a number or a percentage of `total`. Other strings
 * count as 0; the API server does not admit them.
 */
export function intOrPercent(
  value: string | number | undefined,
  total: number,
  rounding: Rounding,
): number {
  if (value === undefined) return 0;
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  if (percent === undefined) return 0;
  const exact = (Number(percent) * total) / 100;
  return rounding === 'up' ? Math.ceil(exact) : Math.floor(exact);
}

/** Returns a status field with a count, or no field if the count is zero, as Go's `omitempty` does. */
export function counted<Name extends string>(
  name: Name,
  count: number,
): Partial<Record<Name, number>> {
  return count === 0 ? {} : ({ [name]: count } as Record<Name, number>);
}

/** Returns the server's message for a refused write, or the message of any other error. */
export function failureMessage(error: unknown): string {
  if (isApiError(error)) return error.body.message ?? error.message;
  return errorMessage(error);
}
