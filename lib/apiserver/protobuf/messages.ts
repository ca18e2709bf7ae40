import { isJsonObject, setMember, formatTime, parseTime } from '../../object/index.js';
import { readDocument } from '../kinds/documents.js';
import { scanJson } from '../requests/json-text.js';
import type { WireReader, WireType, WireWriter } from './wire.js';

type JsonObject = Readonly<Record<string, unknown>>;

/** Converts values of a Go type between JSON and Kubernetes' protobuf encoding. */
export interface Coder {
  readonly wireType: WireType;
  /** @throws RangeError the bytes do not fit the type. */
  read(from: WireReader): unknown;
  /** Writes a value; undefined or null: Go's zero value. */
  write(to: WireWriter, value: unknown): void;
}

/** Returns true if the API has a struct with this name. */
export function hasStruct(name: string): boolean {
  return typeof types()[name] === 'object';
}

const coders = new Map<string, Coder>();

/** Returns the coder of a Go type, compiled once: `core/v1.Pod`, `int64`. */
export function coderOf(type: string): Coder {
  let coder = coders.get(type);
  if (coder === undefined) {
    coder = compile(type);
    coders.set(type, coder);
  }
  return coder;
}

type Declaration = string | Readonly<Record<string, string>>;

/** Types that no document of the server describes. */
const unlisted: Readonly<Record<string, Declaration>> = {
  'meta/v1.PartialObjectMetadata': { '.TypeMeta': '', metadata: 'meta/v1.ObjectMeta' },
  'meta/v1.PartialObjectMetadataList': {
    ...{ '.TypeMeta': '', metadata: 'meta/v1.ListMeta' },
    items: '[]meta/v1.PartialObjectMetadata',
  },
};

let declared: Readonly<Record<string, Declaration>> | undefined;

function types(): Readonly<Record<string, Declaration>> {
  declared ??= { ...(readDocument('go-types') as Record<string, Declaration>), ...unlisted };
  return declared;
}

function compile(type: string): Coder {
  const own = scalars[type] ?? custom[type];
  if (own !== undefined) return own;
  if (/^u?int\d*$/.test(type)) return whole;
  const declaration = types()[type];
  if (declaration === undefined) throw new RangeError(`no such type: ${type}`);
  if (typeof declaration === 'object') return structCoder(() => fieldsOf(type, declaration));
  // A list of strings with a name, such as `Verbs`, has a message of its own. `shapeOf` handles other named lists.
  if (!declaration.startsWith('[]')) return coderOf(declaration);
  return wrapped(() => [field(1, 'items', '[]string')], {
    unwrap: ({ items }) => items ?? [],
    wrap: (items) => ({ items }),
  });
}

const scalars: Readonly<Partial<Record<string, Coder>>> = {
  string: {
    wireType: 2,
    read: (from) => from.text(),
    write: (to, value) => to.text(typeof value === 'string' ? value : ''),
  },
  '[]byte': {
    wireType: 2,
    read: (from) => from.bytes().toString('base64'),
    write: (to, value) => to.bytes(Buffer.from(typeof value === 'string' ? value : '', 'base64')),
  },
  bool: {
    wireType: 0,
    read: (from) => from.varint() !== 0,
    write: (to, value) => to.varint(value === true ? 1 : 0),
  },
  float64: {
    wireType: 1,
    read: (from) => from.double(),
    write: (to, value) => to.double(numberOf(value)),
  },
};

const whole: Coder = {
  wireType: 0,
  read: (from) => from.varint(),
  write: (to, value) => to.varint(numberOf(value)),
};

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

interface Field {
  /** The name in JSON; empty if Go embeds the struct. */
  readonly name: string;
  readonly number: number;
  readonly shape: 'single' | 'list' | 'map' | 'embedded';
  /** If true, an absent value is not written. Go writes all other fields, with their zero values. */
  readonly optional: boolean;
  /** The type of the value, or of each item. */
  readonly type: string;
}

function fieldsOf(struct: string, declaration: Readonly<Record<string, string>>): Field[] {
  const all = readDocument('field-numbers') as Readonly<Partial<Record<string, readonly number[]>>>;
  const own = '.TypeMeta' in declaration ? 1 : 0;
  const fields = Object.entries(declaration).map(([name, written], at): Field => {
    const number = all[struct]?.[at] ?? at + 1 - own;
    const [, pointer = '', type = ''] = /^(\*?)(.*?)[?0]*$/.exec(written) ?? [];
    if (name.startsWith('.')) return { name: '', number, shape: 'embedded', optional: false, type };
    return { name, number, ...shapeOf(type, pointer === '*') };
  });
  return fields.filter(({ number }) => number > 0).sort((a, b) => a.number - b.number);
}

function shapeOf(type: string, pointer: boolean): Pick<Field, 'shape' | 'optional' | 'type'> {
  const named = types()[type];
  const collection = /^(?:map\[[^\]]+\]|\[\](?!string$))/;
  // A named map has no message of its own, unlike a named list of text.
  const shown = typeof named === 'string' && collection.test(named) ? named : type;
  const [, item] = /^map\[[^\]]+\](.+)$/.exec(shown) ?? [];
  if (item !== undefined) return { shape: 'map', optional: true, type: item };
  if (shown === '[]byte') return { shape: 'single', optional: true, type: shown };
  if (shown.startsWith('[]')) return { shape: 'list', optional: true, type: shown.slice(2) };
  const isList = typeof named === 'string' && named.startsWith('[]');
  return { shape: 'single', optional: pointer || isList, type };
}

/** Returns the coder of a message. `fields` is called at first use, because types contain themselves. */
function structCoder(fields: () => readonly Field[]): Coder {
  interface Compiled {
    readonly list: readonly Field[];
    readonly byNumber: ReadonlyMap<number, Field>;
  }
  let compiled: Compiled | undefined;
  const use = (): Compiled => {
    if (compiled !== undefined) return compiled;
    const list = fields();
    compiled = { list, byNumber: new Map(list.map((field) => [field.number, field])) };
    return compiled;
  };
  return {
    wireType: 2,
    read: (from) => {
      const { byNumber } = use();
      const found: Record<string, unknown> = {};
      from.fields((number, wireType) => {
        const field = byNumber.get(number);
        if (field === undefined) return false;
        readField(from, { field, wireType, found });
        return true;
      });
      return found;
    },
    write: (to, value) => {
      const object = isJsonObject(value) ? value : {};
      const { list } = use();
      for (let at = list.length - 1; at >= 0; at--) {
        const field = list[at];
        if (field !== undefined) writeField(to, field, object);
      }
    },
  };
}

interface FieldRead {
  readonly field: Field;
  readonly wireType: WireType;
  readonly found: Record<string, unknown>;
}

function readField(from: WireReader, { field, wireType, found }: FieldRead): void {
  const { name, shape, type } = field;
  const coder = coderOf(type);
  const expected = shape === 'map' ? 2 : coder.wireType;
  if (wireType !== expected) throw new RangeError(`${name}: wire type ${wireType}`);
  switch (shape) {
    case 'embedded':
      Object.assign(found, coder.read(from));
      return;
    case 'single':
      found[name] = coder.read(from);
      return;
    // In protobuf, a list or map is a repeated field: each item is written as one occurrence of the field.
    case 'list':
      ((found[name] ??= []) as unknown[]).push(coder.read(from));
      return;
    case 'map':
      readEntry(from, coder, (found[name] ??= {}) as Record<string, unknown>);
      return;
  }
}

function readEntry(from: WireReader, coder: Coder, map: Record<string, unknown>): void {
  let key = '';
  let value: unknown;
  from.fields((number, wireType) => {
    if (number === 1 && wireType === 2) key = from.text();
    else if (number === 2 && wireType === coder.wireType) value = coder.read(from);
    else return false;
    return true;
  });
  setMember(map, key, value ?? null);
}

function writeField(to: WireWriter, field: Field, object: JsonObject): void {
  const { name, number, shape, type } = field;
  const coder = coderOf(type);
  const value = shape === 'embedded' ? object : object[name];
  if (field.optional && (value === undefined || value === null)) return;
  if (shape === 'list') {
    const items = Array.isArray(value) ? (value as readonly unknown[]) : [];
    for (let at = items.length - 1; at >= 0; at--) {
      to.field(number, coder.wireType, () => coder.write(to, items[at]));
    }
  } else if (shape === 'map') {
    const entries = Object.entries(isJsonObject(value) ? value : {}).sort(([a], [b]) =>
      a < b ? 1 : -1,
    );
    for (const [key, item] of entries) {
      to.field(number, 2, () => {
        // Go writes each value except a nil slice of bytes.
        const isNil = item === null && type === '[]byte';
        if (!isNil) to.field(2, coder.wireType, () => coder.write(to, item));
        to.field(1, 2, () => to.text(key));
      });
    }
  } else {
    to.field(number, coder.wireType, () => coder.write(to, value));
  }
}

interface Wrapping {
  /** Returns the JSON of a read message. */
  readonly unwrap: (object: JsonObject) => unknown;
  /** Returns the message of a value. */
  readonly wrap: (value: unknown) => JsonObject;
}

/** Returns the coder of a type whose JSON is not an object of its fields. */
function wrapped(fields: () => readonly Field[], { unwrap, wrap }: Wrapping): Coder {
  const message = structCoder(fields);
  return {
    wireType: 2,
    read: (from) => unwrap(message.read(from) as JsonObject),
    write: (to, value) => message.write(to, wrap(value)),
  };
}

function field(number: number, name: string, written: string): Field {
  const optional = written.startsWith('*');
  return { name, number, ...shapeOf(written.replace('*', ''), optional) };
}

const schemaProps = 'apiextensions/v1.JSONSchemaProps';

/** A field that holds JSON as text. Absent and empty stand for null. */
const rawJson = wrapped(() => [field(1, 'raw', '*string')], {
  unwrap: ({ raw }) => parseRaw(raw),
  wrap: (value) => (value === undefined ? {} : { raw: JSON.stringify(value) }),
});

function parseRaw(raw: unknown): unknown {
  if (typeof raw !== 'string' || raw === '') return null;
  try {
    const value: unknown = JSON.parse(raw);
    if (scanJson(raw).depth <= 1_000) return value;
  } catch (error) {
    throw new RangeError('the field is not JSON', { cause: error });
  }
  throw new RangeError('the field is nested too deeply');
}

const timeFields = () => [field(1, 'seconds', 'int64'), field(2, 'nanos', 'int32')];

/** Returns the coder of a time. An unset time has no bytes. */
function timeCoder(digits: 0 | 6): Coder {
  const message = structCoder(timeFields);
  return {
    wireType: 2,
    read: (from) => {
      if (from.atEnd) return null;
      const { seconds = 0, nanos = 0 } = message.read(from) as Partial<Record<string, number>>;
      const text = formatTime(seconds * 1000);
      if (digits === 0) return text;
      return `${text.slice(0, -1)}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`;
    },
    write: (to, value) => {
      if (typeof value !== 'string') return;
      const micros = Math.round(parseTime(value) * 1000);
      const seconds = Math.floor(micros / 1e6);
      message.write(to, { seconds, nanos: digits === 0 ? 0 : (micros - seconds * 1e6) * 1000 });
    },
  };
}

/** Types with their own JSON encoding. */
const custom: Readonly<Partial<Record<string, Coder>>> = {
  'meta/v1.Time': timeCoder(0),
  'meta/v1.MicroTime': timeCoder(6),
  'meta/v1.FieldsV1': rawJson,
  'apiextensions/v1.JSON': rawJson,
  'k8s.io/apimachinery/pkg/runtime.RawExtension': rawJson,
  'k8s.io/apimachinery/pkg/api/resource.Quantity': wrapped(() => [field(1, 'text', 'string')], {
    unwrap: ({ text = '' }) => text,
    wrap: (value) => ({ text: value ?? '0' }),
  }),
  'k8s.io/apimachinery/pkg/util/intstr.IntOrString': wrapped(
    () => [field(1, 'type', 'int64'), field(2, 'intVal', 'int32'), field(3, 'strVal', 'string')],
    {
      unwrap: ({ type = 0, intVal = 0, strVal = '' }) => (type === 0 ? intVal : strVal),
      wrap: (value) =>
        typeof value === 'string' ? { type: 1, strVal: value } : { type: 0, intVal: value },
    },
  ),
  'apiextensions/v1.JSONSchemaPropsOrBool': wrapped(
    () => [field(1, 'allows', 'bool'), field(2, 'schema', `*${schemaProps}`)],
    {
      unwrap: ({ allows = false, schema }) => schema ?? allows,
      // Go sets `allows` whenever there is a schema.
      wrap: (value) => (isJsonObject(value) ? { allows: true, schema: value } : { allows: value }),
    },
  ),
  'apiextensions/v1.JSONSchemaPropsOrArray': wrapped(
    () => [field(1, 'schema', `*${schemaProps}`), field(2, 'schemas', `[]${schemaProps}`)],
    {
      unwrap: ({ schema, schemas }) => schemas ?? schema ?? null,
      wrap: (value) => (Array.isArray(value) ? { schemas: value } : { schema: value }),
    },
  ),
  'apiextensions/v1.JSONSchemaPropsOrStringArray': wrapped(
    () => [field(1, 'schema', `*${schemaProps}`), field(2, 'property', '[]string')],
    {
      unwrap: ({ schema, property }) => property ?? schema ?? null,
      wrap: (value) => (Array.isArray(value) ? { property: value } : { schema: value }),
    },
  ),
};
