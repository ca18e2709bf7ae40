import type { FieldErrors } from './field-errors.js';
import { portNameProblems } from './names.js';

/** Checks that a number is not negative. */
export function validateNonnegative(
  value: number | undefined,
  field: string,
  errors: FieldErrors,
): void {
  if ((value ?? 0) < 0) errors.invalid(field, value, 'must be greater than or equal to 0');
}

/** Checks that a port is between 1 and 65535. */
export function validatePortNumber(value: number, field: string, errors: FieldErrors): void {
  if (value < 1 || value > 65_535) {
    errors.invalid(field, value, 'must be between 1 and 65535, inclusive');
  }
}

/** Checks a port number or a port name. */
export function validatePort(port: number | string, field: string, errors: FieldErrors): void {
  if (typeof port === 'number') validatePortNumber(port, field, errors);
  else for (const problem of portNameProblems(port)) errors.invalid(field, port, problem);
}

/** Checks a count, or a percentage such as `25%`. */
export function validateIntOrPercent(
  value: number | string,
  field: string,
  errors: FieldErrors,
): void {
  if (typeof value === 'number') validateNonnegative(value, field, errors);
  else if (!/^[0-9]+%$/.test(value)) {
    const example = "a valid percent string must be a numeric string followed by an ending '%'";
    const regex = "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    errors.invalid(field, value, `${example} ${regex}`);
  }
}

/** Returns the number of a percentage or a count; 0 if the text is invalid. */
export function intOrPercentNumber(value: number | string): number {
  if (typeof value === 'number') return value;
  return /^[0-9]+%?$/.test(value) ? Number(value.replace('%', '')) : 0;
}

/** Checks that a percentage is at most 100%. */
export function validateAtMost100Percent(
  value: number | string,
  field: string,
  errors: FieldErrors,
): void {
  if (typeof value === 'string' && value.endsWith('%') && intOrPercentNumber(value) > 100) {
    errors.invalid(field, value, 'must not be greater than 100%');
  }
}
