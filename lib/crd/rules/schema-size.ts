import type { Schema } from '../../object/index.js';
import { escapeName, withTypeAndMeta } from './schema-type.js';

/** The size limits of a schema's values, as API servers estimate them for rule costs. */
export interface SchemaSize {
  /** Maximum number of characters, bytes or entries; 0 for values without a size. */
  readonly largest: number;
  /** Minimum size as JSON, in bytes. */
  readonly leastBytes: number;
  readonly fields?: ReadonlyMap<string, SchemaSize>;
  /** The size of items, or of the values of a map. */
  readonly item?: SchemaSize;
  readonly key?: SchemaSize;
}

/** Maximum request size; it bounds values without a limit of their own. */
const largestRequest = 3 * 1024 * 1024;

const sizes = new WeakMap<
  Schema,
  { plain?: SchemaSize | undefined; root?: SchemaSize | undefined }
>();

/** Returns the size limits of a schema's values; undefined if rules cannot read them. Cached per schema. */
export function schemaSize(schema: Schema, isRoot: boolean): SchemaSize | undefined {
  const known = sizes.get(schema) ?? {};
  const kept = isRoot ? known.root : known.plain;
  if (kept !== undefined) return kept;
  const size = sizeOf(schema, isRoot);
  sizes.set(schema, { ...known, ...(isRoot ? { root: size } : { plain: size }) });
  return size;
}

/** Returns how many values of a schema fit into one request, for lists and maps without a limit. */
export function mostInRequest({ leastBytes }: SchemaSize): number {
  return Math.floor(largestRequest / (leastBytes + 1));
}

function sizeOf(schema: Schema, isRoot: boolean): SchemaSize | undefined {
  const { maxLength } = schema;
  if (schema['x-kubernetes-int-or-string'] === true) {
    return {
      largest: maxLength === undefined ? longestText : characters(maxLength),
      leastBytes: 1,
    };
  }
  switch (schema.type) {
    case 'array':
      return listSize(schema);
    case 'object':
      return objectSize(isRoot ? withTypeAndMeta(schema) : schema);
    case 'string':
      return textSize(schema);
    case 'boolean':
      return { largest: 0, leastBytes: 4 };
    case 'number':
    case 'integer':
      return { largest: 0, leastBytes: 1 };
    case undefined:
    default:
      return undefined;
  }
}

function inner(schema: Schema): SchemaSize | undefined {
  return schemaSize(schema, schema['x-kubernetes-embedded-resource'] === true);
}

function listSize({ items, maxItems }: Schema): SchemaSize | undefined {
  const item = items && inner(items);
  if (item === undefined) return undefined;
  // Brackets, and one comma per item.
  const fitting = Math.floor((largestRequest - 2) / (item.leastBytes + 1));
  return { largest: limit(maxItems, fitting), leastBytes: 2, item };
}

function objectSize(schema: Schema): SchemaSize | undefined {
  const { additionalProperties, maxProperties, properties = {}, required = [] } = schema;
  if (typeof additionalProperties === 'object') {
    const item = inner(additionalProperties);
    if (item === undefined) return undefined;
    // Quotes, colon, comma and two bytes of name per value.
    const fitting = Math.floor((largestRequest - 2) / (item.leastBytes + 6));
    return { largest: limit(maxProperties, fitting), leastBytes: 2, item, key: mapKey };
  }
  const needed = new Set(required);
  const fields = new Map<string, SchemaSize>();
  let leastBytes = 2;
  for (const [name, property] of Object.entries(properties)) {
    const size = inner(property);
    if (size === undefined) continue;
    const escaped = escapeName(name);
    if (escaped !== undefined) fields.set(escaped, size);
    if (!needed.has(name) || (property.default ?? null) !== null) continue;
    leastBytes += Buffer.byteLength(name) + size.leastBytes + 4;
  }
  return { largest: 0, leastBytes, fields };
}

/** A key of a map counts as an empty string. */
const mapKey: SchemaSize = { largest: 0, leastBytes: 2 };

const longestText = largestRequest - 2;

const times: Readonly<Partial<Record<string, SchemaSize>>> = {
  duration: { largest: 32, leastBytes: 3 },
  date: { largest: 12, leastBytes: 12 },
  'date-time': { largest: 32, leastBytes: 21 },
};

function textSize({ format = '', maxLength, enum: values = [] }: Schema): SchemaSize {
  const time = Object.hasOwn(times, format) ? times[format] : undefined;
  if (time !== undefined) return time;
  if (maxLength !== undefined) {
    const largest = format === 'byte' ? limit(maxLength, 0) : characters(maxLength);
    return { largest, leastBytes: 2 };
  }
  if (format === 'byte' || values.length === 0) return { largest: longestText, leastBytes: 2 };
  const lengths = values.map((one) => (typeof one === 'string' ? Buffer.byteLength(one) : 0));
  return { largest: Math.max(...lengths), leastBytes: 2 };
}

/** A character takes at most four bytes. */
function characters(maxLength: number): number {
  return limit(maxLength, 0) * 4;
}

function limit(given: number | undefined, otherwise: number): number {
  return given === undefined ? otherwise : Math.max(0, given);
}
