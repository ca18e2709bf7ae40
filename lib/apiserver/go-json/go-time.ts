const secondsLayout = '2006-01-02T15:04:05Z07:00';
const microsLayout = '2006-01-02T15:04:05.000000Z07:00';
const date: readonly (readonly [string, RegExp])[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^(?:0[1-9]|1[0-2])/],
  ['-', /^-/],
  ['02', /^(?:0[1-9]|[12]\d|3[01])/],
  ['T', /^T/],
  ['15', /^(?:[01]\d|2[0-3])/],
  [':', /^:/],
  ['04', /^[0-5]\d/],
  [':', /^:/],
];
const zone: readonly [string, RegExp] = ['Z07:00', /^(?:Z|[+-]\d\d:\d\d)/];
const secondsParts = [...date, ['05', /^[0-5]\d(?:[.,]\d+)?/] as const, zone];
const microsParts = [...date, ['05', /^[0-5]\d/] as const, ['.000000', /^\.\d{6}/] as const, zone];

/** A text is not a valid time. The message is that of Go's `time.Parse`. */
export class TimeFormatError extends Error {}

/**
 * Normalizes a `metav1.Time`, which is RFC 3339, to UTC and whole seconds.
 * @throws TimeFormatError it is not such a time.
 */
export function normalTime(text: string): string {
  check(text, secondsLayout, secondsParts);
  return `${new Date(text).toISOString().slice(0, 19)}Z`;
}

/**
 * Normalizes a `metav1.MicroTime`, which is RFC 3339 with exactly six fractional digits, to UTC.
 * @throws TimeFormatError it is not such a time.
 */
export function normalMicroTime(text: string): string {
  check(text, microsLayout, microsParts);
  const micros = text.slice(20, 26);
  // Date has only milliseconds; the time zone never changes the fraction.
  return `${new Date(text).toISOString().slice(0, 19)}.${micros}Z`;
}

/** Formats `milliseconds` since 1970 as `metav1.Time`. */
export function timeText(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

function check(text: string, layout: string, parts: readonly (readonly [string, RegExp])[]): void {
  const failed = (why: string): TimeFormatError =>
    new TimeFormatError(`parsing time ${JSON.stringify(text)}${why}`);
  let rest = text;
  for (const [name, pattern] of parts) {
    const length = pattern.exec(rest)?.[0].length;
    if (length === undefined) {
      throw failed(` as "${layout}": cannot parse ${JSON.stringify(rest)} as "${name}"`);
    }
    rest = rest.slice(length);
  }
  if (rest !== '') throw failed(`: extra text: ${JSON.stringify(rest)}`);
  if (Number.isNaN(Date.parse(text))) throw failed(': day out of range');
}
