/** A floating-point number as Go's `%g` writes it: the shortest, with an exponent of two digits. */
export function goDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  if (value === 0) return '0';
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 21) return plain(value, power);
  const digits = String(Math.abs(power)).padStart(2, '0');
  return `${mantissa}e${power < 0 ? '-' : '+'}${digits}`;
}

/** Without an exponent: JavaScript writes one below a millionth only. */
function plain(value: number, power: number): string {
  return power >= -6 ? String(value) : value.toFixed(20).replace(/0+$/, '');
}
