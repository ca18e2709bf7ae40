/**
 * Formats a number like Go's `%g`: the shortest text that parses to the same number. Below a ten-thousandth
 * and from a million on, it has an exponent of at least two digits.
 */
export function goDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (value === 0 || (power >= -4 && power < 6)) return String(value);
  const digits = String(Math.abs(power)).padStart(2, '0');
  return `${mantissa}e${power < 0 ? '-' : '+'}${digits}`;
}

/** Formats a number with `digits` decimals like Go's `%.1f`: ties round to the even digit. */
export function fixedText(value: number, digits: number): string {
  const rounded = value.toFixed(digits);
  // A tie is an odd multiple of half a binary digit; other values round as in JavaScript.
  const isTie = Math.abs((value * 2 ** (digits + 1)) % 2) === 1;
  if (!isTie || Number(rounded.at(-1)) % 2 === 0) return rounded;
  return (value - Math.sign(value) * 10 ** -digits * 0.5).toFixed(digits);
}
