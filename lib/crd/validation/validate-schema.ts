import {
  deepEqual,
  generateNameProblems,
  isJsonObject,
  label1035Problems,
  labelProblems,
  labelValueProblems,
  memberOf,
  nameProblems,
  qualifiedNameProblems,
  quoted,
  memberSchemaOf,
  withSortedMembers,
} from '../../object/index.js';
import type { Schema } from '../../object/index.js';
import { GoPattern, goPattern } from '../cel/go.js';
import { FieldErrors } from './field-errors.js';
import { isInt64, validateNumber, validateRange } from './numbers.js';
import { hasFormat, isKnownFormat } from './schema-formats.js';

export interface SchemaCheck {
  readonly schema: Schema;
  /** JSON path; empty for the whole object. */
  readonly path: string;
  readonly errors: FieldErrors;
  /**
   * The stored value: a part that an update leaves unchanged may stay invalid (KEP-4008). undefined if absent
   * or not matchable.
   */
  readonly old?: unknown;
}

/** Validates a value against a structural schema, with the API server's messages. */
export function validateSchema(value: unknown, check: SchemaCheck): void {
  const { schema, old } = check;
  if (old !== undefined && isUnchanged(value, old, schema)) {
    validateWithin(value, check);
    return;
  }
  if (value === null) {
    const isTyped = schema.type !== undefined || schema['x-kubernetes-int-or-string'] === true;
    if (isTyped && schema.nullable !== true) wrongType(value, check);
    // An enum rejects null even if it lists null. `allOf`, `anyOf`, `oneOf` and `not` do not apply to null.
    validateEnum(value, check);
    return;
  }
  if (typeof value === 'number') validateRange(value, check);
  if (!hasType(value, schema)) {
    wrongType(value, check);
    if (schema['x-kubernetes-int-or-string'] !== true) {
      const isNumeric = schema.type === 'integer' || schema.type === 'number';
      if (typeof value === 'number' && isNumeric) validateNumber(value, check);
      validateEnum(value, check);
      // A value of the wrong type may still match `allOf` or `anyOf`, which need not restrict the type.
      validateCombinations(value, check);
      return;
    }
  }
  if (typeof value === 'string') validateText(value, check);
  else if (typeof value === 'number') validateNumber(value, check);
  else if (Array.isArray(value)) validateItems(value, check);
  else if (isJsonObject(value)) validateMembers(value, check);
  validateEnum(value, check);
  validateCombinations(value, check);
}

/**
 * Returns whether the API server considers a value unchanged. It compares only what the schema describes: an object
 * with a field that the schema merely preserves counts as changed.
 */
export function isUnchanged(value: unknown, old: unknown, schema: Schema | undefined): boolean {
  if (Array.isArray(value) && Array.isArray(old)) {
    if (value.length !== old.length) return false;
    if (schema?.['x-kubernetes-list-type'] !== 'map') return deepEqual(value, old);
    const before = correlation(schema, old);
    return value.every((item) => isUnchanged(item, before(item), schema.items));
  }
  if (!isJsonObject(value) || !isJsonObject(old)) return deepEqual(value, old);
  const names = namesIn(value);
  return (
    names.length === namesIn(old).length &&
    names.every((name) => {
      const member = memberSchemaOf(schema ?? {}, name);
      return member !== undefined && isUnchanged(value[name], memberOf(old, name), member);
    })
  );
}

function namesIn(value: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(value).filter((name) => value[name] !== undefined);
}

/** Validates the embedded objects of a value, which must be valid even if they are unchanged. */
function validateWithin(value: unknown, { schema, path, errors }: SchemaCheck): void {
  if (!hasEmbedded(schema)) return;
  const { items } = schema;
  if (Array.isArray(value) && items !== undefined) {
    for (const [index, item] of value.entries()) {
      validateWithin(item, { schema: items, path: `${path}[${index}]`, errors });
    }
  }
  if (!isJsonObject(value)) return;
  for (const name of namesIn(value)) {
    const member = memberSchemaOf(schema, name);
    const at = path === '' ? name : `${path}.${name}`;
    if (member !== undefined) validateWithin(value[name], { schema: member, path: at, errors });
  }
  if (schema['x-kubernetes-embedded-resource'] === true) validateEmbedded(value, path, errors);
}

const embedding = new WeakMap<Schema, boolean>();

function hasEmbedded(schema: Schema): boolean {
  const known = embedding.get(schema);
  if (known !== undefined) return known;
  const { properties = {}, items, additionalProperties } = schema;
  const parts = [...Object.values(properties), items, additionalProperties];
  const found =
    schema['x-kubernetes-embedded-resource'] === true ||
    parts.some((part) => typeof part === 'object' && hasEmbedded(part));
  embedding.set(schema, found);
  return found;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return isInt64(value) ? 'integer' : 'number';
  return typeof value;
}

function hasType(value: unknown, schema: Schema): boolean {
  const name = typeName(value);
  if (schema['x-kubernetes-int-or-string'] === true) return name === 'integer' || name === 'string';
  const { type, format } = schema;
  // If a string has a format, the API server checks the format instead of the type. Formats accept every list.
  const isLeft = format !== undefined && (type ?? 'string') === 'string';
  if (isLeft && isKnownFormat({ format })) return name === 'string' || name === 'array';
  return type === undefined || name === type || (name === 'integer' && type === 'number');
}

function wrongType(value: unknown, { schema, path, errors }: SchemaCheck): void {
  const { type = '', format } = schema;
  const say = (name: string, wanted: string): void =>
    errors.typeInvalid(path, name, `${path} in body must be of type ${wanted}: "${name}"`);
  if (schema['x-kubernetes-int-or-string'] === true) say(typeName(value), 'integer,string');
  else if (format !== undefined && isKnownFormat(schema) && isPlain(value)) {
    say(typeof value === 'number' ? sizedName(value) : '', format);
  } else say(typeName(value), type);
}

/**
 * Returns whether the server's message about a value of the wrong type names the wanted format instead of the wanted
 * type.
 */
function isPlain(value: unknown): boolean {
  return value !== null && typeof value !== 'string' && !Array.isArray(value);
}

function sizedName(value: number): string {
  return isInt64(value) ? 'int64' : 'float64';
}

function validateText(value: string, { schema, path, errors }: SchemaCheck): void {
  const { maxLength, minLength, pattern, format } = schema;
  // Count code points, like Go.
  const length = Array.from(value).length;
  if (maxLength !== undefined && length > maxLength) errors.tooLong(path, maxLength);
  else if (minLength !== undefined && length < minLength) {
    errors.invalid(path, value, `${path} in body should be at least ${minLength} chars long`);
  } else if (pattern !== undefined && !matches(value, pattern)) {
    errors.invalid(path, value, `${path} in body should match '${pattern}'`);
  }
  if (format !== undefined && !hasFormat(value, format)) {
    const why = `${path} in body must be of type ${format}: ${quoted(value)}`;
    errors.typeInvalid(path, value, why);
  }
}

/** Patterns that Go rejects match nothing; the definition check rejects their schema. */
function matches(value: string, source: string): boolean {
  const pattern = goPattern(source);
  return pattern instanceof GoPattern && pattern.test(value);
}

function validateItems(items: readonly unknown[], check: SchemaCheck): void {
  const { schema, path, errors, old } = check;
  const { minItems, maxItems, items: itemSchema } = schema;
  if (maxItems !== undefined && items.length > maxItems) {
    errors.tooMany(path, items.length, maxItems);
  }
  if (minItems !== undefined && items.length < minItems) {
    errors.invalid(path, items.length, `${path} in body should have at least ${minItems} items`);
  }
  if (itemSchema !== undefined) {
    const correlate = correlation(schema, old);
    for (const [index, item] of items.entries()) {
      const at = { schema: itemSchema, path: `${path}[${index}]`, errors, old: correlate(item) };
      validateSchema(item, at);
    }
  }
  validateListType(items, check);
}

/** Finds the old entry of a map list by its keys; entries of other lists have no identity. */
export function correlation(schema: Schema, old: unknown): (item: unknown) => unknown {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return () => undefined;
  const keyOf = (item: unknown): string =>
    JSON.stringify(keys.map((key) => (isJsonObject(item) ? item[key] : undefined)));
  const before = new Map(old.map((item: unknown) => [keyOf(item), item]));
  return (item) => before.get(keyOf(item));
}

function validateMembers(value: Readonly<Record<string, unknown>>, check: SchemaCheck): void {
  const { schema, path, errors, old } = check;
  const { required = [] } = schema;
  const names = namesIn(value);
  const count = names.length;
  if (schema.minProperties !== undefined && count < schema.minProperties) {
    const why = `${path} in body should have at least ${schema.minProperties} properties`;
    errors.invalid(path, count, why);
  }
  if (schema.maxProperties !== undefined && count > schema.maxProperties) {
    errors.tooMany(path, count, schema.maxProperties);
  }
  const inner = (name: string): string => (path === '' ? name : `${path}.${name}`);
  if (schema.additionalProperties === false) {
    const unknown = names.filter((name) => memberSchemaOf(schema, name) === undefined);
    const problem = (name: string): string => `${inner(name)} in body is a forbidden property`;
    for (const name of unknown) errors.invalid(path, name, problem(name));
  }
  for (const name of required) {
    if (memberOf(value, name) === undefined) errors.required(inner(name));
  }
  for (const name of names) {
    const member = memberSchemaOf(schema, name);
    if (member === undefined) continue;
    const before = isJsonObject(old) && Object.hasOwn(old, name) ? old[name] : undefined;
    validateSchema(value[name], { schema: member, path: inner(name), errors, old: before });
  }
  if (schema['x-kubernetes-embedded-resource'] === true) validateEmbedded(value, path, errors);
}

function validateEnum(value: unknown, { schema, path, errors }: SchemaCheck): void {
  const { enum: allowed } = schema;
  if (allowed === undefined || allowed.some((one) => isAllowed(value, one))) return;
  const shown = allowed.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
  errors.notSupported(path, value, shown);
}

function isAllowed(value: unknown, one: unknown): boolean {
  if (value === null) return false;
  // The server compares numbers as integers if the enum value is an integer.
  if (typeof value === 'number' && Number.isInteger(one)) return Math.trunc(value) === one;
  return deepEqual(one, value);
}

function validateCombinations(value: unknown, { schema, path, errors }: SchemaCheck): void {
  const tried = (one: Schema): FieldErrors => {
    const own = new FieldErrors();
    validateSchema(value, { schema: one, path, errors: own });
    return own;
  };
  const say = (what: string): void => errors.invalid('<nil>', '', `"${path}" must ${what}`);
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  if (anyOf.length > 0) {
    const results = anyOf.map(tried);
    if (!results.some(({ empty }) => empty)) {
      say('validate at least one schema (anyOf)');
      errors.append(closest(value, anyOf, results));
    }
  }
  if (oneOf.length > 0) {
    const results = oneOf.map(tried);
    const valid = results.filter(({ empty }) => empty).length;
    const kept = 'validate one and only one schema (oneOf)';
    if (valid === 0) {
      say(`${kept}. Found none valid`);
      errors.append(closest(value, oneOf, results));
    } else if (valid > 1) say(`${kept}. Found ${valid} valid alternatives`);
  }
  if (allOf.length > 0) {
    const failed = allOf.map(tried).filter(({ empty }) => !empty);
    if (failed.length > 0) {
      const none = failed.length === allOf.length ? '. None validated' : '';
      say(`validate all the schemas (allOf)${none}`);
      for (const { causes } of failed) errors.append(causes);
    }
  }
  if (not !== undefined && tried(not).empty) say('not validate the schema (not)');
}

/** Returns the causes of the first alternative with the most checks that apply to `value`. */
function closest(
  value: unknown,
  alternatives: readonly Schema[],
  results: readonly FieldErrors[],
): FieldErrors['causes'] {
  const counts = alternatives.map((one) => checksOf(value, one));
  return results[counts.indexOf(Math.max(...counts))]?.causes ?? [];
}

/** The number of checks that apply to every value, in addition to that of its format. */
const commonChecks = 6;

/** Counts the checks of a schema that apply to a value, like the server's validators. */
function checksOf(value: unknown, schema: Schema): number {
  if (value === null) return 0;
  const { allOf = [], format, items } = schema;
  const inner: number[] = allOf.map((one) => checksOf(value, one));
  if (typeof value === 'string' && format !== undefined && isKnownFormat(schema)) inner.push(1);
  if (Array.isArray(value) && items !== undefined) {
    inner.push(...value.map((item) => checksOf(item, items)));
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const of = memberSchemaOf(schema, name);
      if (of !== undefined) inner.push(checksOf(member, of));
    }
  }
  return inner.reduce((sum, count) => sum + count, commonChecks);
}

/**
 * Validates an embedded object (`x-kubernetes-embedded-resource`) like the API server: its apiVersion, kind
 * and, if present, the names, labels and annotations in its metadata.
 */
function validateEmbedded(
  { apiVersion, kind, metadata }: Readonly<Record<string, unknown>>,
  path: string,
  errors: FieldErrors,
): void {
  validateTypeMeta('apiVersion', apiVersion, path, errors);
  validateTypeMeta('kind', kind, path, errors);
  if (isJsonObject(metadata)) validateMetadata(metadata, `${path}.metadata`, errors);
}

function validateTypeMeta(
  name: 'apiVersion' | 'kind',
  value: unknown,
  path: string,
  errors: FieldErrors,
): void {
  const at = `${path}.${name}`;
  if (value === undefined) errors.required(at);
  else if (typeof value !== 'string') errors.invalid(at, value, 'must be a string');
  else if (value === '') errors.invalid(at, value, 'must not be empty');
  else if (name === 'kind') {
    const problems = label1035Problems(value.toLowerCase());
    const why = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    if (problems.length > 0) errors.invalid(at, value, why);
  } else if (value.split('/').length > 2) {
    errors.invalid(at, value, `unexpected GroupVersion string: ${value}`);
  }
}

function validateMetadata(
  metadata: Readonly<Record<string, unknown>>,
  path: string,
  errors: FieldErrors,
): void {
  const { name, generateName, namespace, labels, annotations } = metadata;
  const say = (field: string, value: unknown, problems: readonly string[]): void => {
    errors.invalidEach(`${path}.${field}`, value, problems);
  };
  if (isText(generateName)) {
    say('generateName', generateName, generateNameProblems(generateName, 'path'));
  }
  if (isText(name)) say('name', name, nameProblems(name, 'path'));
  if (isText(namespace)) say('namespace', namespace, labelProblems(namespace));
  for (const [key, value] of textsOf(labels)) {
    say('labels', key, qualifiedNameProblems(key));
    say('labels', value, labelValueProblems(value));
  }
  for (const [key] of textsOf(annotations)) {
    say('annotations', key, qualifiedNameProblems(key.toLowerCase()));
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function textsOf(map: unknown): readonly [string, string][] {
  const entries = isJsonObject(map) ? Object.entries(map) : [];
  return entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
}

/** Checks that set entries are unique, and list-map entries unique by key. */
function validateListType(items: readonly unknown[], check: SchemaCheck): void {
  const type = check.schema['x-kubernetes-list-type'];
  if (type === 'set') validateUnique(items, (item) => item, check);
  if (type === 'map' && areObjects(items, check)) {
    const keys = check.schema['x-kubernetes-list-map-keys'] ?? [];
    validateUnique(items, (item) => keyOf(item, keys), check);
  }
}

/** Checks that the entries are objects; for null, only the wrong type is reported. */
function areObjects(items: readonly unknown[], { path, errors }: SchemaCheck): boolean {
  let all = true;
  for (const [index, item] of items.entries()) {
    if (item === null || isJsonObject(item)) continue;
    const why = 'must be an object for an array of list-type map';
    errors.invalid(`${path}[${index}]`, item, why);
    all = false;
  }
  return all;
}

function validateUnique(
  items: readonly unknown[],
  idOf: (item: unknown) => unknown,
  { path, errors }: SchemaCheck,
): void {
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    // The order of members has no meaning, and Go prints them sorted.
    const id = withSortedMembers(idOf(item));
    const text = JSON.stringify(id);
    const count = seen.get(text) ?? 0;
    // Report each duplicate once.
    if (count === 1) errors.duplicate(`${path}[${index}]`, id);
    seen.set(text, count + 1);
  }
}

function keyOf(item: unknown, keys: readonly string[]): unknown {
  const members = isJsonObject(item) ? item : {};
  return Object.fromEntries(keys.map((key) => [key, memberOf(members, key)]));
}
