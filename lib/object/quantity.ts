import { OperatorError } from '../system/index.js';

/** The notation of a quantity: `12M`, `12Mi` or `12e6`. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** An exact amount of a resource, `unscaled * 10 ** scale`; created by `parseQuantity`. */
export interface Quantity {
  /** The digits without trailing zeros, so that equal amounts have equal fields; 0n with scale 0 for zero. */
  readonly unscaled: bigint;
  /** The power of ten, at least -9: the finest unit is a billionth. */
  readonly scale: number;
  readonly format: QuantityFormat;
}

/** A quantity in the format of objects, or a parsed one. */
export type QuantityLike = string | number | Quantity;

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const finest = -9;
// The API server caps binary quantities, but not decimal ones.
const largestBinary = 2n ** 63n - 1n;
// 10 ** 1000 is not a realistic amount, but would cost memory and time; so would a million digits.
const largestExponent = 1000;
const mostDigits = 1000;

const quantityPattern = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$/;

/**
 * Parses a resource quantity: `500m`, `1.5Gi`, `12e6`. As on the API server, fractions below a billionth are
 * rounded up (away from zero), and binary quantities are capped at 2⁶³-1. Otherwise the result is exact. See
 * "Quantity" in the Kubernetes API reference.
 * @throws OperatorError `InvalidValue`
 */
export function parseQuantity(value: string | number): Quantity {
  const text = String(value);
  const [, sign, whole = '', fraction = '', suffix = ''] = quantityPattern.exec(text) ?? [];
  const digits = whole + fraction;
  // Go's parser accepts `-` and `.m` as zero; here they are errors, because they are probably typos.
  if (sign === undefined || digits === '' || digits.length > mostDigits) throw invalid(text);
  const magnitude = BigInt(digits);
  const { factor, exponent, format } = suffixOf(suffix, text);
  const exact = { unscaled: magnitude * factor, scale: exponent - fraction.length };
  const rounded = trimmed(capped(roundedUp(exact), format));
  const unscaled = sign === '-' ? -rounded.unscaled : rounded.unscaled;
  return { unscaled, scale: rounded.scale, format };
}

/**
 * Formats a quantity in its canonical form: no fraction, the largest suffix that leaves a whole number.
 * Binary quantities below 1,024 or with a fraction become decimal.
 */
export function formatQuantity(quantity: Quantity): string {
  const { unscaled, scale, format } = quantity;
  if (unscaled === 0n) return '0';
  const isBinary = format === 'BinarySI' && scale >= 0 && magnitudeOf(quantity) >= 1024n;
  if (isBinary) return formatBinary(unscaled * 10n ** BigInt(scale));
  const step = decimalStep(scale, format);
  const number = unscaled * 10n ** BigInt(scale - step);
  if (format !== 'DecimalExponent') return `${number}${decimalSuffixes[step / 3 + 3] ?? ''}`;
  return step === 0 ? `${number}` : `${number}e${step}`;
}

/**
 * Returns the text that an API server returns for `value`. A text that the server's parser considers
 * canonical stays as it is (`1.500`, `+5`, `1e0`). Any other string is formatted like {@link formatQuantity}.
 * @throws OperatorError `InvalidValue`
 */
export function canonicalQuantity(value: string | number): string {
  const text = String(value);
  const quantity = parseQuantity(text);
  if (isKept(text, quantity)) return text;
  const written = formatQuantity(quantity);
  // The server stores the formatted text. A binary quantity written without a suffix is then read as decimal
  // and formatted again: 62.5Ki is written as 64000, then as 64k.
  const isReread = quantity.format === 'BinarySI' && !written.endsWith('i');
  return isReread ? canonicalQuantity(written) : written;
}

/**
 * Compares amounts in any notation: `1` and `1000m` are equal.
 * @returns a negative number if `one` is smaller, 0 if they are equal, else a positive one
 * @throws OperatorError `InvalidValue`
 */
export function compareQuantities(one: QuantityLike, other: QuantityLike): number {
  const [left, right] = [quantityOf(one), quantityOf(other)];
  const scale = Math.min(left.scale, right.scale);
  const [low, high] = [inUnits(left, scale), inUnits(right, scale)];
  return low < high ? -1 : low > high ? 1 : 0;
}

/** Whether two JSON values are quantities of the same amount. */
export function isSameAmount(one: unknown, other: unknown): boolean {
  try {
    return compareQuantities(parseQuantity(one as string), parseQuantity(other as string)) === 0;
  } catch {
    // An invalid text is not the same amount as another. The server reports it.
    return false;
  }
}

/** Returns the sum, in the format of `one`. @throws OperatorError `InvalidValue` */
export function addQuantities(one: QuantityLike, other: QuantityLike): Quantity {
  const [left, right] = [quantityOf(one), quantityOf(other)];
  const scale = Math.min(left.scale, right.scale);
  const sum = { unscaled: inUnits(left, scale) + inUnits(right, scale), scale };
  return { ...trimmed(sum), format: left.format };
}

/** Returns the difference, in the format of `one`. @throws OperatorError `InvalidValue` */
export function subtractQuantities(one: QuantityLike, other: QuantityLike): Quantity {
  const { unscaled, ...rest } = quantityOf(other);
  return addQuantities(one, { ...rest, unscaled: -unscaled });
}

interface Decimal {
  readonly unscaled: bigint;
  readonly scale: number;
}

function quantityOf(value: QuantityLike): Quantity {
  return typeof value === 'object' ? value : parseQuantity(value);
}

function suffixOf(
  suffix: string,
  text: string,
): { factor: bigint; exponent: number; format: QuantityFormat } {
  const binary = binarySuffixes.indexOf(suffix);
  if (binary > 0) return { factor: 1n << BigInt(10 * binary), exponent: 0, format: 'BinarySI' };
  const decimal = decimalSuffixes.indexOf(suffix);
  if (decimal >= 0) return { factor: 1n, exponent: 3 * (decimal - 3), format: 'DecimalSI' };
  const exponent = Number(suffix.slice(1));
  if (Math.abs(exponent) > largestExponent) throw invalid(text);
  return { factor: 1n, exponent, format: 'DecimalExponent' };
}

function roundedUp({ unscaled, scale }: Decimal): Decimal {
  if (scale >= finest) return { unscaled, scale };
  const divisor = 10n ** BigInt(finest - scale);
  const up = unscaled % divisor === 0n ? 0n : 1n;
  return { unscaled: unscaled / divisor + up, scale: finest };
}

function capped(amount: Decimal, format: QuantityFormat): Decimal {
  const isOver = format === 'BinarySI' && amount.unscaled > atScale(largestBinary, amount.scale);
  return isOver ? { unscaled: largestBinary, scale: 0 } : amount;
}

/** Converts a whole number to units of 10 ** scale, for a scale of at most 0. */
function atScale(whole: bigint, scale: number): bigint {
  return whole * 10n ** BigInt(-scale);
}

/** Returns the number of units of 10 ** scale, for a scale of at most that of the amount. */
function inUnits(amount: Decimal, scale: number): bigint {
  // Most amounts need no conversion, and a power of bigints is slow.
  if (amount.scale === scale) return amount.unscaled;
  return amount.unscaled * 10n ** BigInt(amount.scale - scale);
}

function trimmed({ unscaled, scale }: Decimal): Decimal {
  if (unscaled === 0n) return { unscaled, scale: 0 };
  let [rest, zeros] = [unscaled, 0];
  while (rest % 10n === 0n) {
    rest /= 10n;
    zeros++;
  }
  return { unscaled: rest, scale: scale + zeros };
}

function magnitudeOf({ unscaled, scale }: Decimal): bigint {
  return (unscaled < 0n ? -unscaled : unscaled) * 10n ** BigInt(scale);
}

function formatBinary(whole: bigint): string {
  let [rest, power] = [whole, 0];
  while (rest % 1024n === 0n && power < binarySuffixes.length - 1) {
    rest /= 1024n;
    power++;
  }
  return `${rest}${binarySuffixes[power] ?? ''}`;
}

/** Returns the exponent to write: a multiple of 3, at most `scale`, for which a suffix exists. */
function decimalStep(scale: number, format: QuantityFormat): number {
  const step = Math.floor(scale / 3) * 3;
  return format === 'DecimalExponent' ? step : Math.min(step, 18);
}

/** Whether the API server keeps the text unchanged; it decides by the digits alone. */
function isKept(text: string, { unscaled, format }: Quantity): boolean {
  const [, , whole = '', fraction = '', suffix = ''] = quantityPattern.exec(text) ?? [];
  const significant = whole.replace(/^0+/, '');
  const digits = significant + fraction;
  if (unscaled === 0n || significant === '') return false;
  if (format === 'BinarySI') {
    const isShort = digits.length <= 14 - binarySuffixes.indexOf(suffix) * 3;
    return isShort && fraction === '' && BigInt(digits) % 8n !== 0n;
  }
  const scale = suffixOf(suffix, text).exponent - fraction.length;
  const isExact = digits.length <= 18 && scale >= finest;
  return isExact && scale % 3 === 0 && !digits.endsWith('000');
}

function invalid(text: string): OperatorError {
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  return new OperatorError(
    'InvalidValue',
    `${JSON.stringify(shown)} is not a quantity such as 500m or 2Gi`,
  );
}
