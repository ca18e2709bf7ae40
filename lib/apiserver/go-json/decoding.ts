import { canonicalQuantity } from '../../object/index.js';
import { isOperatorError } from '../../system/index.js';

/** A body does not fit the Go type that the real server decodes it into: 400. */
export class DecodeError extends Error {
  /** The message of Go's converter from maps to structs, which the real server uses for some patched objects. */
  readonly conversion: string;

  constructor(message: string, conversion = message) {
    super(message);
    this.conversion = conversion;
  }
}

/**
 * The kind of a Go type: `slice`, `map` or `struct`, the name of a basic type, or `own` for a type that decodes itself.
 */
type GoKind = 'slice' | 'map' | 'struct' | 'own' | (string & {});

/** A field of a Go struct, as messages name it. */
export interface DecodedField {
  readonly name: string;
  /** The names in Go's messages on the path to the field: embedded structs, then the field. */
  readonly goPath: readonly string[];
}

/** The state of a decoder: its path in the document, and the unknown fields so far. */
export class Decoding {
  /** JSON paths of unknown fields, in the order of the document. */
  readonly unknownFields: string[] = [];
  /** The Go struct of the current field, for Go's messages. */
  structName = '';
  /** True if the value comes from the storage. The real server reads an empty list in its storage as null. */
  readonly fromStorage: boolean;
  /** Fields, indexes of lists and keys of maps. Most paths are in no message, so their strings are made when needed. */
  readonly #path: (DecodedField | number | string)[] = [];

  constructor(fromStorage = false) {
    this.fromStorage = fromStorage;
  }

  /** Enters a field, an item of a list by its index, or an entry of a map by its key. */
  enter(step: DecodedField | number | string): void {
    this.#path.push(step);
  }

  leave(): void {
    this.#path.pop();
  }

  unknown(name: string): void {
    const steps = [...this.#path, name].map((step) =>
      typeof step === 'number' ? `[${step}]` : `.${typeof step === 'string' ? step : step.name}`,
    );
    this.unknownFields.push(steps.join('').slice(1));
  }

  /**
   * Returns the error for a value of the wrong type:
   * `json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`.
   * @param goType - the name of the type, such as `[]v1.Container`
   * @param goKind - its kind, such as `slice`
   */
  mismatch(value: unknown, goType: string, goKind: GoKind): DecodeError {
    const shown = jsonTypeName(value);
    const precise = typeof value === 'number' && !/^float/.test(goType) && isNumeric(goType);
    const got = precise ? `number ${value}` : shown;
    const problem = (where: string): string =>
      `json: cannot unmarshal ${got} into ${where} of type ${goType}`;
    const goPath = this.#path.flatMap((step) => (typeof step === 'object' ? step.goPath : []));
    const where =
      goPath.length === 0 ? 'Go value' : `Go struct field ${this.structName}.${goPath.join('.')}`;
    // In Go, a type that decodes itself (`UnmarshalJSON`) does not receive the name of its field.
    const conversion =
      goKind === 'own' ? problem('Go value') : conversionProblem(value, goType, goKind);
    return new DecodeError(problem(where), conversion);
  }
}

/** Returns the problem of a value of the wrong type in the words of Go's converter from maps to structs. */
function conversionProblem(value: unknown, goType: string, goKind: GoKind): string {
  const given = givenKind(value);
  if (goKind === 'struct') return `cannot restore struct from: ${given}`;
  if (goKind === 'slice' || goKind === 'map') return `cannot restore ${goKind} from ${given}`;
  // Go can convert between these types, but the decoder of JSON does not.
  const isConvertible =
    given === 'int64' ? goKind === 'string' : given === 'float64' && goKind.includes('int');
  return isConvertible ? `cannot convert ${given} to ${goType}` : `unrecognized type: ${goKind}`;
}

function givenKind(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  const name = jsonTypeName(value);
  return goKinds[name] ?? name;
}

const goKinds: Readonly<Partial<Record<string, string>>> = { array: 'slice', object: 'map' };

function isNumeric(goType: string): boolean {
  return /^u?int\d*$/.test(goType);
}

/** Returns Go's name of a JSON value's type. */
export function jsonTypeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/**
 * A Go type as `encoding/json` reads and writes it. Decoding a value returns the JSON that the real server
 * returns for the stored value. Zero values are omitted, times and quantities are canonical, and struct
 * fields are in Go's order.
 */
export interface GoType {
  /** The name in Go's messages: `int32`, `v1.PullPolicy`, `[]v1.Container`. */
  readonly name: string;
  /**
   * Decodes a value other than null or undefined into new objects.
   * @throws DecodeError the value is of another type.
   */
  decode(value: unknown, at: Decoding): unknown;
  /** Returns the JSON of a field without a value, if the field must be written. */
  zero(): unknown;
  /** Returns whether `omitempty` omits this decoded value. */
  isEmpty(value: unknown): boolean;
  /**
   * Returns a value that was changed after decoding, with the fields of its structs in Go's order. Returns the same
   * value if the fields already are in this order. @defaultValue undefined: values of the type hold no structs
   */
  readonly inOrder?: ((value: unknown) => unknown) | undefined;
}

const never = (): boolean => false;

/** Returns a type whose values have the JavaScript type of `zero`. */
function plainType(name: string, basic: string, zero: string | boolean | number): GoType {
  const type = typeof zero;
  return {
    name,
    decode: (value, at) => {
      if (typeof value !== type) throw at.mismatch(value, name, basic);
      return value;
    },
    zero: () => zero,
    isEmpty: (value) => value === zero,
  };
}

function intType(name: string, basic: string): GoType {
  const bits = Number(/\d+$/.exec(basic)?.[0] ?? 64);
  const limit = 2 ** (basic.startsWith('u') ? bits : bits - 1);
  const least = basic.startsWith('u') ? 0 : -limit;
  // JSON.parse rounds the largest int64 to 2 ** 63.
  const most = bits === 64 ? limit : limit - 1;
  return {
    ...plainType(name, basic, 0),
    decode: (value, at) => {
      const fits = typeof value === 'number' && Number.isInteger(value);
      if (!fits || value < least || value > most) throw at.mismatch(value, name, basic);
      return value;
    },
  };
}

/** Returns the Go type `basic` (`string`, `bool`, `int32`, `float64`, …), with `name` in messages. */
export function scalarType(basic: string, name: string): GoType {
  if (basic === 'string') return plainType(name, basic, '');
  if (basic === 'bool') return plainType(name, basic, false);
  return basic.startsWith('float') ? plainType(name, basic, 0) : intType(name, basic);
}

const byteType = scalarType('uint8', 'uint8');

/** The type `[]byte`: base64 in JSON, or a list of numbers. */
export const bytesType: GoType = {
  name: '[]uint8',
  decode: (value, at) => {
    if (Array.isArray(value)) {
      const bytes = value.map((item: unknown) => byteType.decode(item ?? 0, at) as number);
      return Buffer.from(bytes).toString('base64');
    }
    if (typeof value !== 'string') throw at.mismatch(value, '[]uint8', 'slice');
    const text = value.replaceAll(/[\r\n]/g, '');
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) {
      const bad = /[^A-Za-z0-9+/]/.exec(text)?.index ?? text.length - (text.length % 4);
      const problem = `illegal base64 data at input byte ${bad}`;
      throw new DecodeError(problem, `error decoding from json: ${problem}`);
    }
    return text;
  },
  zero: () => null,
  isEmpty: (value) => value === '',
};

function timeType(name: string, normal: (text: string) => string): GoType {
  return {
    name,
    decode: (value, at) => {
      if (typeof value !== 'string') throw at.mismatch(value, 'string', 'own');
      try {
        return normal(value);
      } catch (error) {
        if (error instanceof TimeFormatError) throw new DecodeError(error.message);
        throw error;
      }
    },
    // Go's `omitempty` never omits a struct, and a zero time is written as null.
    zero: () => null,
    isEmpty: never,
  };
}

/** The type `metav1.Time`. */
export const timeGoType = timeType('v1.Time', normalTime);
/** The type `metav1.MicroTime`. */
export const microTimeGoType = timeType('v1.MicroTime', normalMicroTime);

const quantityFormatError =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const quantityForm = /^[+-]?\d*(?:\.\d*)?[eEinumkKMGTP]*[-+]?\d*$/;

/** Returns the problem of a string that is not a quantity, in the words of Go's parser. */
function quantityProblem(text: string): string {
  const hasForm = text !== '' && quantityForm.test(text);
  return hasForm ? "unable to parse quantity's suffix" : quantityFormatError;
}

/** Adds the digit 0 to a quantity without digits, as Go reads it: `M` becomes `0M`. */
function withDigits(text: string): string {
  return text === '' ? text : text.replace(/^([+-]?\.?)(?=[a-zA-Z]|$)/, (sign) => `${sign}0`);
}

/** The type `resource.Quantity`: it reads a string or a number and writes the canonical text. */
export const quantityGoType: GoType = {
  name: 'resource.Quantity',
  decode: (value) => {
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new DecodeError(quantityFormatError);
    }
    const text = String(value).trim();
    try {
      return canonicalQuantity(withDigits(text));
    } catch (error) {
      if (isOperatorError(error, 'InvalidValue')) throw new DecodeError(quantityProblem(text));
      throw error;
    }
  },
  zero: () => '0',
  isEmpty: never,
};

export const intOrStringGoType: GoType = {
  name: 'intstr.IntOrString',
  decode: (value, at) => {
    if (typeof value === 'string') return value;
    if (typeof value === 'number' && Number.isInteger(value)) return value;
    throw at.mismatch(value, 'int32', 'own');
  },
  zero: () => 0,
  isEmpty: never,
};

/** JSON of any form that stays unchanged (`RawExtension`, `FieldsV1`, `JSON`). */
export const rawGoType: GoType = {
  name: 'json.RawMessage',
  decode: (value) => value,
  zero: () => null,
  isEmpty: never,
};

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
class TimeFormatError extends Error {}

/**
 * Normalizes a `metav1.Time`, which is RFC 3339, to UTC and whole seconds.
 * @throws TimeFormatError the text is not such a time.
 */
function normalTime(text: string): string {
  check(text, secondsLayout, secondsParts);
  return `${new Date(text).toISOString().slice(0, 19)}Z`;
}

/**
 * Normalizes a `metav1.MicroTime`, which is RFC 3339 with exactly six fractional digits, to UTC.
 * @throws TimeFormatError the text is not such a time.
 */
function normalMicroTime(text: string): string {
  check(text, microsLayout, microsParts);
  const micros = text.slice(20, 26);
  // Date has only milliseconds; the time zone never changes the fraction.
  return `${new Date(text).toISOString().slice(0, 19)}.${micros}Z`;
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
