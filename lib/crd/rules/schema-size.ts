import type { Schema } from '../../object/schema.js';
import { escapeName } from './escape-name.js';
import { withTypeAndMeta } from './schema-type.js';

/** How large values of a schema may be, as API servers reckon what rules cost. */
export interface SchemaSize {
  /** The most characters, bytes or entries; 0 for what has no size. */
  readonly largest: number;
  /** The fewest bytes that it takes as JSON. */
  readonly leastBytes: number;
  readonly fields?: ReadonlyMap<string, SchemaSize>;
  /** Of items, or of the values of a map. */
  readonly item?: SchemaSize;
  readonly key?: SchemaSize;
}

/** No request is larger: what has no limit of its own must fit in. */
const largestRequest = 3 * 1024 * 1024;

const sizes = new WeakMap<
  Schema,
  { plain?: SchemaSize | undefined; root?: SchemaSize | undefined }
>();

/** How large values of a schema may be; undefined: rules don't see them. Once for each schema. */
export function schemaSize(schema: Schema, isRoot: boolean): SchemaSize | undefined {
  const known = sizes.get(schema) ?? {};
  const kept = isRoot ? known.root : known.plain;
  if (kept !== undefined) return kept;
  const size = sizeOf(schema, isRoot);
  sizes.set(schema, { ...known, ...(isRoot ? { root: size } : { plain: size }) });
  return size;
}

/** How often values of a schema fit into one request: where no list or map around has a limit. */
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
  // The brackets, and a comma with each item.
  const fitting = Math.floor((largestRequest - 2) / (item.leastBytes + 1));
  return { largest: limit(maxItems, fitting), leastBytes: 2, item };
}

function objectSize(schema: Schema): SchemaSize | undefined {
  const { additionalProperties, maxProperties, properties = {}, required = [] } = schema;
  if (typeof additionalProperties === 'object') {
    const item = inner(additionalProperties);
    if (item === undefined) return undefined;
    // Quotes, colon, comma and two bytes of name with each value.
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

/** Names of map entries count as if they were short. */
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

/** A character is four bytes at most. */
function characters(maxLength: number): number {
  return limit(maxLength, 0) * 4;
}

function limit(given: number | undefined, otherwise: number): number {
  return given === undefined ? otherwise : Math.max(0, given);
}
