import { withOwnEnum } from '../../crd/internal.js';
import { deepEqual } from '../../object/index.js';
import type { Schema, SchemaRule } from '../../object/index.js';
import type { Problem } from './findings.js';
import type { BreakingRule } from './breaking-rules.js';

export type SchemaChange = Problem<BreakingRule>;

/**
 * Returns the changes of a schema that can break stored objects or clients.
 * @param path - the field of the schema; empty at the root
 */
export function schemaChanges(old: Schema, current: Schema, path = ''): readonly SchemaChange[] {
  return changesBetween(asServed(withOwnEnum(old)), asServed(withOwnEnum(current)), path);
}

/** Returns a schema as an API server returns it: without empty strings, empty lists and nulls. */
function asServed(schema: Schema): Schema {
  const given = Object.entries(schema).filter(([keyword, value]: [string, unknown]) => {
    const isEmpty = value === '' || (Array.isArray(value) && value.length === 0);
    return value !== null && (keyword === 'default' || !isEmpty);
  });
  return Object.fromEntries(given);
}

function changesBetween(before: Schema, after: Schema, path: string): readonly SchemaChange[] {
  const [old, type] = [typeOf(before), typeOf(after)];
  if (old !== type) return typeChanges(old, type, path);
  return [
    ...validationChanges(before, after).map((change) => ({ ...change, path })),
    ...ownershipChanges(before, after).map((change) => ({ ...change, path })),
    ...fieldChanges(before, after, path),
    ...entryChanges(before, after, path),
    ...(before.items !== undefined && after.items !== undefined
      ? schemaChanges(before.items, after.items, `${path}[*]`)
      : []),
  ];
}

const anything = 'any value';
const intOrString = 'integer or string';

function typeOf(schema: Schema): string {
  if (schema['x-kubernetes-int-or-string'] === true) return intOrString;
  return schema.type ?? anything;
}

function typeChanges(old: string, type: string, path: string): readonly SchemaChange[] {
  const isWider =
    type === anything ||
    (old === 'integer' && type === 'number') ||
    (type === intOrString && ['integer', 'string'].includes(old));
  const effect = isWider
    ? 'stored objects stay valid, but clients that read the old type fail on new values'
    : 'stored values of the old type are invalid, and clients that write or read it fail';
  const message = `the type changes from ${old} to ${type}: ${effect}; add a field or a version instead`;
  return [{ rule: 'type-changed', path, message }];
}

type Change = Omit<SchemaChange, 'path'>;

function validationChanges(before: Schema, after: Schema): readonly Change[] {
  return [
    ...enumChanges(before, after),
    ...boundChanges(before, after),
    ...textChanges(before, after),
    ...ruleChanges(before, after),
    ...junctorChanges(before, after),
    ...defaultChanges(before, after),
  ];
}

const refusal = 'the server refuses new objects, and changes of this field, that';

function enumChanges({ enum: old }: Schema, { enum: values }: Schema): readonly Change[] {
  if (values === undefined) return [];
  if (old === undefined) {
    const message = `only ${listOf(values)} remain valid: ${refusal} have another value`;
    return [{ rule: 'enum-narrowed', message }];
  }
  const without = (list: readonly unknown[], others: readonly unknown[]): readonly unknown[] =>
    list.filter((value) => !others.some((other) => deepEqual(other, value)));
  const [gone, added] = [without(old, values), without(values, old)];
  const message = `${listOf(gone)} is no longer valid: ${refusal} have it`;
  const wider = `${listOf(added)} is new: clients that know only the old values may fail on it`;
  return [
    ...(gone.length > 0 ? [{ rule: 'enum-narrowed', message } as const] : []),
    ...(added.length > 0 ? [{ rule: 'enum-widened', message: wider } as const] : []),
  ];
}

function listOf(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ');
}

const lowest = ['minimum', 'minLength', 'minItems', 'minProperties'] as const;
const highest = ['maximum', 'maxLength', 'maxItems', 'maxProperties'] as const;

function boundChanges(before: Schema, after: Schema): readonly Change[] {
  const changes: Change[] = [];
  const tighten = (name: keyof Schema): void => {
    const from = before[name] === undefined ? 'no' : `the ${JSON.stringify(before[name])} of`;
    const message = `${name} ${JSON.stringify(after[name])} replaces ${from} ${name}: ${refusal} are outside`;
    changes.push({ rule: 'bounds-tightened', message });
  };
  for (const name of lowest) {
    // Without `minLength`, `minItems` or `minProperties` the minimum is 0; without `minimum` any number is valid.
    const none = name === 'minimum' ? -Infinity : 0;
    if ((after[name] ?? none) > (before[name] ?? none)) tighten(name);
  }
  for (const name of highest) {
    if ((after[name] ?? Infinity) < (before[name] ?? Infinity)) tighten(name);
  }
  if (excludes(before, after, 'exclusiveMinimum', 'minimum')) tighten('exclusiveMinimum');
  if (excludes(before, after, 'exclusiveMaximum', 'maximum')) tighten('exclusiveMaximum');
  const { multipleOf } = after;
  const keeps = before.multipleOf !== undefined && before.multipleOf % (multipleOf ?? 1) === 0;
  if (multipleOf !== undefined && !keeps) tighten('multipleOf');
  return changes;
}

/** Whether the limit stays the same, but a value that equals it was valid before and is no longer valid. */
function excludes(
  before: Schema,
  after: Schema,
  flag: 'exclusiveMinimum' | 'exclusiveMaximum',
  bound: 'minimum' | 'maximum',
): boolean {
  const isNew = after[flag] === true && before[flag] !== true;
  return isNew && after[bound] !== undefined && after[bound] === before[bound];
}

function textChanges(before: Schema, after: Schema): readonly Change[] {
  const changes: Change[] = [];
  const { pattern, format } = after;
  if (pattern !== undefined && pattern !== before.pattern) {
    const from = before.pattern === undefined ? 'is new' : `replaces ${before.pattern}`;
    const message = `the pattern ${pattern} ${from}: ${refusal} do not match it`;
    changes.push({ rule: 'pattern-changed', message });
  }
  if (format !== undefined && format !== before.format) {
    const from = before.format === undefined ? 'is new' : `replaces ${before.format}`;
    const message = `the format ${format} ${from}: ${refusal} do not have it`;
    changes.push({ rule: 'format-changed', message });
  }
  if (before.nullable === true && after.nullable !== true) {
    const message = 'null is no longer valid: the server refuses or drops stored nulls';
    changes.push({ rule: 'nullable-removed', message });
  }
  return changes;
}

function ruleChanges(before: Schema, after: Schema): readonly Change[] {
  const rulesOf = (schema: Schema): readonly string[] =>
    (schema['x-kubernetes-validations'] ?? []).map(textOfRule);
  const old = rulesOf(before);
  return rulesOf(after)
    .filter((rule) => !old.includes(rule))
    .map((rule) => {
      const message = `the CEL rule ${JSON.stringify(rule)} is new: ${refusal} violate it; stored objects stay valid until the value changes`;
      return { rule: 'rule-added', message };
    });
}

function textOfRule({ rule }: SchemaRule): string {
  return rule.trim().replaceAll(/\s+/g, ' ');
}

/** Compares `allOf`, `anyOf`, `oneOf` and `not` as a whole, because they define no fields. */
function junctorChanges(before: Schema, after: Schema): readonly Change[] {
  const includes = (list: readonly Schema[] = [], part: Schema): boolean =>
    list.some((each) => deepEqual(each, part));
  const { allOf = [], anyOf, oneOf, not } = after;
  const stricter = [
    ...(allOf.every((part) => includes(before.allOf, part)) ? [] : ['allOf']),
    ...(anyOf === undefined || before.anyOf?.every((part) => includes(anyOf, part)) === true
      ? []
      : ['anyOf']),
    ...(oneOf === undefined || deepEqual(oneOf, before.oneOf) ? [] : ['oneOf']),
    ...(not === undefined || deepEqual(not, before.not) ? [] : ['not']),
  ];
  return stricter.map((keyword) => {
    const message = `${keyword} is new or changed: ${refusal} do not satisfy it`;
    return { rule: 'validation-changed', message };
  });
}

function defaultChanges({ default: old }: Schema, { default: value }: Schema): readonly Change[] {
  if (deepEqual(old, value)) return [];
  const [from, to] = [JSON.stringify(old), JSON.stringify(value)];
  const message =
    old === undefined
      ? `the default ${to} is new: stored objects without the field are read with it`
      : value === undefined
        ? `the default ${from} is gone: objects without the field no longer have it`
        : `the default changes from ${from} to ${to}: stored objects keep the old value, new ones have the new`;
  return [{ rule: old === undefined ? 'default-added' : 'default-changed', message }];
}

function ownershipChanges(before: Schema, after: Schema): readonly Change[] {
  const changes: Change[] = [];
  const listType = 'x-kubernetes-list-type';
  const [old = 'atomic', type = 'atomic'] = [before[listType], after[listType]];
  if (old !== type) {
    const effect =
      type === 'atomic'
        ? 'server-side apply replaces the list as a whole, with the entries of others'
        : 'the server refuses duplicates, and appliers of the whole list become owners of each entry';
    const message = `the list type changes from ${old} to ${type}: ${effect}`;
    changes.push({ rule: 'list-type-changed', message });
  }
  const keys = 'x-kubernetes-list-map-keys';
  if (old === 'map' && type === 'map' && !deepEqual(before[keys], after[keys])) {
    const [from, to] = [before[keys]?.join(', '), after[keys]?.join(', ')];
    const message = `the keys of entries change from ${from} to ${to}: recorded owners of entries are lost, and stored entries may be duplicates`;
    changes.push({ rule: 'list-type-changed', message });
  }
  const mapType = 'x-kubernetes-map-type';
  if ((before[mapType] ?? 'granular') !== (after[mapType] ?? 'granular')) {
    const message = `the map type changes to ${after[mapType] ?? 'granular'}: owners of its fields change in server-side apply`;
    changes.push({ rule: 'map-type-changed', message });
  }
  return changes;
}

const unknownFields = 'x-kubernetes-preserve-unknown-fields';
const getsSchema =
  'fields of any value get a schema: the server refuses stored values that do not match it';
const dropped =
  'the server drops the stored value as soon as the object is written, and the value in requests of clients';

function fieldChanges(before: Schema, after: Schema, path: string): readonly SchemaChange[] {
  const changes: SchemaChange[] = [];
  const [old, fields] = [before.properties ?? {}, new Map(Object.entries(after.properties ?? {}))];
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  // Every object has these fields, even if the schema does not name them.
  const isStandard = (name: string): boolean =>
    path === '' && ['apiVersion', 'kind', 'metadata'].includes(name);
  for (const [name, schema] of Object.entries(old)) {
    const same = fields.get(name) ?? entriesOf(after);
    if (same !== undefined) changes.push(...schemaChanges(schema, same, at(name)));
    else if (!isOpen(after) && !isStandard(name)) {
      const message = `removed: ${dropped}; keep the field, or remove it in a new version with a conversion`;
      changes.push({ rule: 'field-removed', path: at(name), message });
    }
  }
  for (const name of after.required ?? []) {
    if (before.required?.includes(name) === true || fields.get(name)?.default !== undefined)
      continue;
    if (isStandard(name)) continue;
    const message =
      'is required: the server refuses new objects without the field, and stored ones once the part that lacks it changes; make it optional, or give it a default';
    changes.push({ rule: 'required-added', path: at(name), message });
  }
  if (!isOpen(before) || !isOpen(after)) return changes;
  for (const [name, schema] of fields) {
    const isKnown = Object.hasOwn(old, name) || isStandard(name);
    if (isKnown || typeOf(schema) === anything) continue;
    changes.push({ rule: 'unknown-fields-pruned', path: at(name), message: getsSchema });
  }
  return changes;
}

/** Compares what a schema allows beyond its named fields. */
function entryChanges(before: Schema, after: Schema, path: string): readonly SchemaChange[] {
  if (
    before['x-kubernetes-embedded-resource'] !== true &&
    after['x-kubernetes-embedded-resource'] === true
  ) {
    const message = `becomes an embedded resource: ${refusal} lack apiVersion, kind or metadata`;
    return [{ rule: 'validation-changed', path, message }];
  }
  const [old, entries] = [entriesOf(before), entriesOf(after)];
  if (old !== undefined && entries !== undefined) return schemaChanges(old, entries, `${path}.*`);
  if ((old === undefined && !isOpen(before)) || isOpen(after)) return [];
  const message =
    entries === undefined ? `fields without a schema are no longer kept: ${dropped}` : getsSchema;
  return [{ rule: 'unknown-fields-pruned', path, message }];
}

function entriesOf({ additionalProperties }: Schema): Schema | undefined {
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

function isOpen(schema: Schema): boolean {
  return schema[unknownFields] === true || schema.additionalProperties === true;
}
