import type { Schema, SchemaRule } from '../../object/schema.js';
import { compileRules } from '../rules/compile-rules.js';
import { fieldPathOf } from '../rules/field-path.js';
import { schemaType } from '../rules/schema-type.js';
import { FieldErrors } from '../validation/field-errors.js';

/** Where a schema stands. */
export interface StructureCheck {
  /** For example `spec.versions[0].schema.openAPIV3Schema`. */
  readonly field: string;
  readonly errors: FieldErrors;
}

interface At extends StructureCheck {
  readonly isRoot: boolean;
  readonly isWhole: boolean;
  /** The list or map around that has no way to tell old from new entries; undefined: none. */
  readonly uncorrelatable: string | undefined;
}

/**
 * Checks that a schema is structural, and that its rules compile, with the messages of the API
 * server; see "Specifying a structural schema" in Kubernetes' documentation.
 */
export function validateStructure(schema: Schema, { field, errors }: StructureCheck): void {
  const root = { isRoot: true, isWhole: true, uncorrelatable: undefined };
  validateLevel(schema, { ...root, field, errors });
}

/** @returns whether the schema is sound down from here; rules of one that isn't are not compiled */
function validateLevel(schema: Schema, at: At): boolean {
  const own = new FieldErrors();
  validateType(schema, { ...at, errors: own });
  validateKeywords(schema, at.field, own);
  validateListKeys(schema, at.field, own);
  at.errors.causes.push(...own.causes);
  let sound = own.empty;
  for (const [part, place] of partsOf(schema, at)) sound = validateLevel(part, place) && sound;
  const rules = new FieldErrors();
  for (const [index, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    validateRule(rule, schema, `${at.field}.x-kubernetes-validations[${index}]`, rules);
  }
  at.errors.causes.push(...rules.causes);
  sound &&= rules.empty;
  if (sound) validateExpressions(schema, at);
  return sound;
}

function* partsOf(schema: Schema, at: At): Generator<[Schema, At]> {
  const { properties = {}, items, additionalProperties } = schema;
  const inner = (part: Schema, path: string): At => ({
    ...at,
    field: `${at.field}.${path}`,
    isWhole: false,
    isRoot: part['x-kubernetes-embedded-resource'] === true,
  });
  for (const [name, property] of Object.entries(properties)) {
    yield [property, inner(property, `properties[${name}]`)];
  }
  if (typeof items === 'object') {
    const isMap = schema['x-kubernetes-list-type'] === 'map';
    const place = inner(items, 'items');
    yield [items, isMap ? place : { ...place, uncorrelatable: at.uncorrelatable ?? at.field }];
  }
  if (typeof additionalProperties === 'object') {
    yield [additionalProperties, inner(additionalProperties, 'additionalProperties')];
  }
}

/** A structural schema has a type everywhere. */
function validateType(schema: Schema, { field, isWhole, errors }: At): void {
  const untyped =
    schema.type === undefined &&
    schema['x-kubernetes-int-or-string'] !== true &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true;
  if (isWhole && schema.type === undefined) {
    errors.required(`${field}.type`, 'must not be empty at the root');
  } else if (isWhole && schema.type !== 'object') {
    errors.invalid(`${field}.type`, schema.type, 'must be object at the root');
  } else if (untyped) {
    errors.required(`${field}.type`, 'must not be empty for specified object fields');
  }
}

function validateKeywords(schema: Schema, field: string, errors: FieldErrors): void {
  if (schema.items === undefined && schema.type === 'array') {
    errors.required(`${field}.items`, 'must be specified');
  }
  if (typeof schema.additionalProperties === 'object' && schema.properties !== undefined) {
    const why = 'additionalProperties and properties are mutual exclusive';
    errors.forbidden(`${field}.additionalProperties`, why);
  }
}

function validateListKeys(schema: Schema, field: string, errors: FieldErrors): void {
  const type = schema['x-kubernetes-list-type'];
  if (type === undefined) return;
  if (!['atomic', 'set', 'map'].includes(type)) {
    errors.notSupported(`${field}.x-kubernetes-list-type`, type, ['atomic', 'map', 'set']);
  }
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (type === 'map' && keys.length === 0) {
    const why = 'must not be empty if x-kubernetes-list-type is map';
    errors.required(`${field}.x-kubernetes-list-map-keys`, why);
  }
  for (const key of type === 'map' ? keys : []) {
    const property = schema.items?.properties?.[key];
    const required = schema.items?.required?.includes(key) === true;
    if (property === undefined) {
      const at = `${field}.x-kubernetes-list-map-keys`;
      errors.invalid(at, keys, 'entries must all be names of item properties');
    } else if (!required && property.default === undefined) {
      const why =
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
      errors.required(`${field}.items.properties[${key}].default`, why);
    }
  }
}

const reasons = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
];

function validateRule(rule: SchemaRule, schema: Schema, field: string, errors: FieldErrors): void {
  const { message = '', messageExpression = '', reason, fieldPath = '' } = rule;
  const trimmed = message.trim();
  if (rule.rule.trim() === '') errors.required(`${field}.rule`, 'rule is not specified');
  else if (message !== '' && trimmed === '') {
    errors.invalid(`${field}.message`, message, 'must be non-empty if specified');
  } else if (hasNewline(trimmed)) {
    errors.invalid(`${field}.message`, message, 'must not contain line breaks');
  } else if (hasNewline(rule.rule.trim()) && trimmed === '') {
    const why = 'message must be specified if rule contains line breaks';
    errors.required(`${field}.message`, why);
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    const why = 'messageExpression must be non-empty if specified';
    errors.required(`${field}.messageExpression`, why);
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    errors.notSupported(`${field}.reason`, reason, reasons);
  }
  if (fieldPath === '') return;
  if (fieldPath.trim() === '') {
    errors.invalid(`${field}.fieldPath`, fieldPath, 'must be non-empty if specified');
  }
  if (hasNewline(fieldPath)) {
    errors.invalid(`${field}.fieldPath`, fieldPath, 'must not contain line breaks');
  }
  if (fieldPathOf(fieldPath, schema) === undefined) {
    errors.invalid(`${field}.fieldPath`, fieldPath, 'must be a valid path');
  }
}

function hasNewline(text: string): boolean {
  return /[\n\r]/.test(text);
}

function validateExpressions(schema: Schema, at: At): void {
  const { errors } = at;
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (rules.length === 0) return;
  const type = schemaType(schema, 'selfType', at.isRoot);
  if (type === undefined) {
    const why = 'failed to convert to declType for CEL validation rules';
    errors.internal(`${at.field}.x-kubernetes-validations`, why);
    return;
  }
  for (const [index, compiled] of compileRules(schema, type).entries()) {
    const field = `${at.field}.x-kubernetes-validations[${index}]`;
    const { rule, error, messageError, usesOldSelf } = compiled;
    if (error !== undefined) errors.invalid(`${field}.rule`, shownRule(rule), error);
    if (messageError !== undefined) {
      errors.invalid(`${field}.messageExpression`, shownRule(rule), messageError);
    }
    if (usesOldSelf && at.uncorrelatable !== undefined) {
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${at.uncorrelatable}`;
      errors.invalid(`${field}.rule`, rule.rule, why);
    }
    if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
      const why = 'may not be set if oldSelf is not used in rule';
      errors.invalid(`${field}.optionalOldSelf`, rule.optionalOldSelf, why);
    }
  }
}

/** A rule as the API server's errors show it: all members, by the names of its Go type. */
function shownRule(rule: SchemaRule): object {
  return {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}
