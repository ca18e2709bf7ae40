import { setMember } from '../../object/json.js';
import { groupOf, versionOf } from '../../object/resource-type.js';
import { formatTime } from '../../object/micro-time.js';
import { definitionName, goTypeName, readDocument } from '../kinds/documents.js';

type JsonObject = Record<string, unknown>;

/**
 * Decodes an object of a built-in kind from Kubernetes' protobuf encoding to JSON. kubectl sends
 * the objects of its own `create` commands only in this encoding. The encoding is four bytes (`k8s`
 * and a zero) and a message with the type and the object.
 * @returns undefined: the encoding is another one, or the kind is not built in
 */
export function objectFromProtobuf(bytes: Uint8Array): Readonly<JsonObject> | undefined {
  if (Buffer.from(bytes.subarray(0, 4)).toString('latin1') !== 'k8s\0') return undefined;
  try {
    const { 1: type, 2: raw = empty } = lastFields(bytes.subarray(4));
    const { 1: version = empty, 2: name = empty } = lastFields(bytesOf(type ?? empty));
    const [apiVersion, kind] = [textOf(version), textOf(name)];
    const own = goTypeName(definitionName(groupOf(apiVersion), versionOf(apiVersion), kind));
    // Options of requests are in the package `meta`, whatever the group.
    const known = [own, `meta/v1.${kind}`].find((each) => typeof types()[each] === 'object');
    if (known === undefined) return undefined;
    return { ...message(known, bytesOf(raw)), apiVersion, kind };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** An encoded value: a number or bytes. */
type Value = bigint | Uint8Array;

const empty = new Uint8Array();

function types(): Readonly<Record<string, string | Readonly<Record<string, string>>>> {
  return readDocument('go-types') as ReturnType<typeof types>;
}

interface Field {
  /** The name in JSON; begins with a dot if Go embeds the struct. */
  readonly name: string;
  /** The Go type, for example `[]string`. */
  readonly type: string;
}

const compiled = new Map<string, ReadonlyMap<number, Field>>();

/** Returns the fields of a struct by number. */
function fieldsOf(struct: string): ReadonlyMap<number, Field> {
  const known = compiled.get(struct);
  if (known !== undefined) return known;
  const declared = types()[struct];
  if (typeof declared !== 'object') throw new RangeError(`no struct: ${struct}`);
  const all = readDocument('field-numbers') as Readonly<Record<string, readonly number[]>>;
  const own = '.TypeMeta' in declared ? 1 : 0;
  const entries = Object.entries(declared).map(([name, written], at) => {
    const number = all[struct]?.[at] ?? at + 1 - own;
    return [number, { name, type: written.replace(/^\*|[?0]*$/g, '') }] as const;
  });
  const fields = new Map(entries);
  compiled.set(struct, fields);
  return fields;
}

function message(struct: string, bytes: Uint8Array): JsonObject {
  const found: JsonObject = {};
  const fields = fieldsOf(struct);
  for (const [number, value] of wireFields(bytes)) {
    const field = number === 0 ? undefined : fields.get(number);
    if (field === undefined) continue;
    const { name, type } = field;
    if (name.startsWith('.')) Object.assign(found, message(type, bytesOf(value)));
    else found[name] = withValue(found[name], value, type);
  }
  return found;
}

/**
 * Returns the value of a field after one more occurrence of it: each item of a list or map is an
 * occurrence. `before` is the value so far.
 */
function withValue(before: unknown, value: Value, type: string): unknown {
  const declared = types()[type];
  // A named list type is encoded as a message that contains the list.
  const isMap = typeof declared === 'string' && declared.startsWith('map[');
  const expression = isMap ? declared : type;
  const [, item] = /^map\[[^\]]+\](.+)$/.exec(expression) ?? [];
  if (item !== undefined) {
    const { 1: key = empty, 2: content } = lastFields(bytesOf(value));
    const map = { ...(before as JsonObject | undefined) };
    setMember(map, textOf(key), content === undefined ? zeroOf(item) : single(content, item));
    return map;
  }
  if (!expression.startsWith('[]') || expression === '[]byte') return single(value, expression);
  return [...((before as unknown[] | undefined) ?? []), single(value, expression.slice(2))];
}

/** Types with their own JSON encoding. */
const custom: Readonly<Partial<Record<string, (bytes: Uint8Array) => unknown>>> = {
  'meta/v1.Time': (bytes) => timeOf(bytes, formatTime),
  'meta/v1.MicroTime': (bytes) =>
    timeOf(bytes, (ms, nanos) => {
      const micros = String(Math.floor(nanos / 1000)).padStart(6, '0');
      return `${formatTime(ms).slice(0, -1)}.${micros}Z`;
    }),
  'meta/v1.FieldsV1': rawJson,
  'apiextensions/v1.JSON': rawJson,
  'k8s.io/apimachinery/pkg/runtime.RawExtension': rawJson,
  'k8s.io/apimachinery/pkg/api/resource.Quantity': (bytes) => textOf(lastFields(bytes)[1] ?? empty),
  'k8s.io/apimachinery/pkg/util/intstr.IntOrString': (bytes) => {
    const { 1: form = 0n, 2: number = 0n, 3: text = empty } = lastFields(bytes);
    return numberOf(form) === 0 ? numberOf(number) : textOf(text);
  },
};

function single(value: Value, type: string): unknown {
  const own = custom[type];
  if (own !== undefined) return own(bytesOf(value));
  if (type === 'string') return textOf(value);
  if (type === 'bool') return numberOf(value) !== 0;
  if (/^u?int\d*$/.test(type)) return numberOf(value);
  if (type === 'float64') return Buffer.from(bytesOf(value)).readDoubleLE();
  if (type === '[]byte') return Buffer.from(bytesOf(value)).toString('base64');
  const declared = types()[type];
  if (declared === undefined) throw new RangeError(`no such type: ${type}`);
  if (typeof declared === 'object') return message(type, bytesOf(value));
  if (!declared.startsWith('[]')) return single(value, declared);
  return wireFields(bytesOf(value)).map(([, item]) => single(item, declared.slice(2)));
}

function zeroOf(type: string): unknown {
  return type === 'string' || type === '[]byte' ? '' : single(empty, type);
}

/** Decodes a time. An unset time has no bytes. */
function timeOf(bytes: Uint8Array, text: (ms: number, nanos: number) => string): string | null {
  if (bytes.length === 0) return null;
  const { 1: seconds = 0n, 2: nanos = 0n } = lastFields(bytes);
  return text(numberOf(seconds) * 1000, numberOf(nanos));
}

function rawJson(bytes: Uint8Array): unknown {
  const raw = lastFields(bytes)[1] ?? empty;
  try {
    return JSON.parse(textOf(raw) || 'null');
  } catch (error) {
    throw new RangeError('the field is not JSON', { cause: error });
  }
}

function bytesOf(value: Value): Uint8Array {
  if (typeof value === 'bigint') throw new RangeError('want bytes, got a number');
  return value;
}

function textOf(value: Value): string {
  return new TextDecoder().decode(bytesOf(value));
}

function numberOf(value: Value): number {
  if (typeof value !== 'bigint') throw new RangeError('want a number, got bytes');
  return Number(BigInt.asIntN(64, value));
}

/** Returns the fields of a message by number; for a repeated field, the last occurrence. */
function lastFields(bytes: Uint8Array): Readonly<Record<number, Value>> {
  return Object.fromEntries(wireFields(bytes));
}

/**
 * Returns the fields of a message in their order.
 * @throws RangeError the bytes are not a message.
 */
function wireFields(bytes: Uint8Array): readonly (readonly [number, Value])[] {
  const found: (readonly [number, Value])[] = [];
  let at = 0;
  const varint = (): bigint => {
    for (let value = 0n, shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new RangeError('the number does not end');
  };
  const taken = (length: number): Uint8Array => {
    if (at + length > bytes.length) throw new RangeError('the field does not end');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = Math.floor(tag / 8);
    const wireType = tag % 8;
    if (wireType === 0) found.push([number, varint()]);
    else if (wireType === 1) found.push([number, taken(8)]);
    else if (wireType === 2) found.push([number, taken(Number(varint()))]);
    else throw new RangeError(`no field has the wire type ${wireType}`);
  }
  return found;
}
