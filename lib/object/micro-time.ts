import { OperatorError } from '../system/index.js';

/**
 * Formats `ms` milliseconds since 1970 as metav1.MicroTime: RFC 3339 with six fractional digits. The server
 * rejects Leases and events.k8s.io Events with any other number of digits. Fractions of `ms` are kept.
 */
export function formatMicroTime(ms: number): string {
  // Whole microseconds first, because the fraction of a large double is inexact.
  const micros = Math.round(ms * 1000);
  const wholeMs = Math.floor(micros / 1000);
  const rest = String(micros - wholeMs * 1000).padStart(3, '0');
  return `${new Date(wholeMs).toISOString().slice(0, -1)}${rest}Z`;
}

/** Formats `ms` milliseconds since 1970 as metav1.Time: RFC 3339, cut to whole seconds. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== formatted.second) {
    formatted = { second, text: `${new Date(second * 1000).toISOString().slice(0, -5)}Z` };
  }
  return formatted.text;
}

/** The last result of {@link formatTime}: an API server formats the same second thousands of times. */
let formatted = { second: NaN, text: '' };

// Date's parser is laxer (dates alone, local times) and drops digits beyond the millisecond.
const rfc3339 =
  /^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:[.,](\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * Parses an RFC 3339 time stamp with any number of fractional digits.
 * @returns milliseconds since 1970, with a fraction down to the microsecond
 * @throws OperatorError `InvalidValue`
 */
export function parseTime(text: string): number {
  const [, date, hour, minute, second, fraction = '', sign, offsetHour, offsetMinute] =
    rfc3339.exec(text) ?? [];
  const dayMs = date === undefined ? NaN : Date.parse(`${date}T00:00:00Z`);
  // `Date.parse` accepts February 30 as March 1.
  if (Number.isNaN(dayMs) || new Date(dayMs).toISOString().slice(0, 10) !== date) {
    throw new OperatorError(
      'InvalidValue',
      `${JSON.stringify(text)} is not an RFC 3339 time such as 2026-01-31T12:00:00Z`,
    );
  }
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  const offset = Number(offsetHour ?? 0) * 3600 + Number(offsetMinute ?? 0) * 60;
  const utcSeconds = seconds - (sign === '-' ? -offset : offset);
  const micros = Number(fraction.slice(0, 6).padEnd(6, '0'));
  return dayMs + utcSeconds * 1000 + micros / 1000;
}
