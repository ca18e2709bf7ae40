import type { Schema, SchemaRule } from '../../object/index.js';
import { compileRules, fieldPathOf } from '../rules/compile-rules.js';
import type { CompiledRule } from '../rules/compile-rules.js';
import { RuleBudget, mostPerRule, occurrencesWithin, sizesBelow } from '../rules/rule-budget.js';
import type { Occurrences } from '../rules/rule-budget.js';
import { mostInRequest, schemaSize } from '../rules/schema-size.js';
import { schemaType } from '../rules/schema-type.js';
import { times } from '../cel/cost/size-range.js';
import { FieldErrors } from '../validation/field-errors.js';
import { fitsRange } from '../validation/numbers.js';
import { validateCompleteness } from './schema-completeness.js';
import { allParts, isReadable, junctorParts, namesDialect } from './schema-parts.js';
import {
  validateCommon,
  validateDefaults,
  validateJunctors,
  validateKeywords,
} from './schema-keywords.js';
import { outsideMeta, placeOfProperty, placeOfValues } from './schema-metadata.js';
import type { MetaPlace } from './schema-metadata.js';
import { schemaFormProblems } from './schema-form.js';
import type { SchemaLevel } from './schema-keywords.js';

/** The location and context of the schema to check. */
export interface StructureCheck {
  /** Path of the schema, for example `spec.versions[0].schema.openAPIV3Schema`. */
  readonly field: string;
  readonly errors: FieldErrors;
  /** Receives the estimated cost of each rule, as a share of the limit. @defaultValue not called */
  readonly onCost?: ((field: string, share: number) => void) | undefined;
  /**
   * Checks no more than the API server. That server accepts defaults that repeat an item of a set or a key of a map,
   * and any default within the values of a map. It also accepts fractions as limits of integers, but then refuses every
   * value.
   * @defaultValue false
   */
  readonly isServer?: boolean | undefined;
}

interface At extends StructureCheck {
  readonly isServer: boolean;
  readonly isRoot: boolean;
  /** False if the whole schema cannot be read as a structural one. */
  readonly isStructural: boolean;
  readonly level: SchemaLevel;
  readonly place: MetaPlace;
  /** Path of the enclosing list or map whose old and new entries cannot be matched; undefined if absent. */
  readonly uncorrelatable: string | undefined;
  /** The maximum number of values with this schema in an object; undefined if only the request size limits it. */
  readonly occurrences: Occurrences;
  /** The cost budget shared by all rules of the schema. */
  readonly budget: RuleBudget;
}

/**
 * Checks that a schema is structural and that its rules compile, with the API server's messages; see
 * "Specifying a structural schema" in Kubernetes' documentation.
 */
export function validateStructure(
  schema: Schema,
  { field, errors, onCost, isServer = false }: StructureCheck,
): void {
  const budget = new RuleBudget();
  const isStructural = isReadable(schema);
  const root = { isRoot: true, isStructural, level: 'root', uncorrelatable: undefined } as const;
  const own = new FieldErrors();
  for (const problem of schemaFormProblems(schema, field))
    own.wrong(problem.field, problem.message);
  if (own.causes.length > 0) {
    errors.append(own.causes);
    return;
  }
  if (schema.nullable === true) {
    own.forbidden(`${field}.nullable`, 'nullable cannot be true at the root');
  }
  if (isStructural) validateCompleteness(schema, field, own);
  const place = outsideMeta;
  validateLevel(schema, {
    ...{ ...root, field, errors: own, onCost, occurrences: 1, budget, place, isServer },
  });
  budget.check(field, own);
  if (own.causes.length === 0 && namesDialect(schema)) {
    own.invalid(field, '', "OpenAPIV3Schema 'schema' is not supported");
  }
  // Like the API server, check defaults only in schemas that are otherwise sound.
  if (own.causes.length === 0) {
    // A default of the whole object must have apiVersion and kind, like that of an embedded object.
    const whole: Schema = { ...schema, 'x-kubernetes-embedded-resource': true };
    validateDefaults(whole, { field, errors: own, looseDefaults: isServer, insideMeta: false });
  }
  errors.append(own.causes);
}

/** @returns whether the schema is sound from this level down; rules of an unsound schema are not compiled */
function validateLevel(schema: Schema, at: At): boolean {
  const own = new FieldErrors();
  if (at.isStructural) validateKeywords(schema, { ...at, errors: own });
  const { place } = at;
  validateCommon(schema, { field: at.field, errors: own, place });
  if (at.isStructural) validateJunctors(schema, at.field, own);
  if (!at.isServer) validateLimits(schema, at.field, own);
  for (const [path, part] of junctorParts(schema)) {
    validateNested(part, { field: `${at.field}.${path}`, errors: own, place });
  }
  at.errors.append(own.causes);
  let sound = own.empty;
  for (const [part, place] of partsOf(schema, at)) sound = validateLevel(part, place) && sound;
  const rules = new FieldErrors();
  validateRuleTexts(schema, at.field, rules);
  at.errors.append(rules.causes);
  sound &&= rules.empty;
  if (sound) validateExpressions(schema, at);
  return sound;
}

/** Checks that limits fit the type: with a limit that does not fit, the API server refuses every value. */
function validateLimits(schema: Schema, field: string, errors: FieldErrors): void {
  for (const keyword of ['minimum', 'maximum', 'multipleOf'] as const) {
    const { [keyword]: limit, type = '', format } = schema;
    if (limit === undefined || fitsRange(limit, schema)) continue;
    const wanted = format === undefined ? type : `${type} with format ${format}`;
    const why = `must be of type ${wanted}, or API servers refuse every value`;
    errors.invalid(`${field}.${keyword}`, limit, why);
  }
}

/** Checks a schema within `allOf`, `anyOf`, `oneOf` or `not`, whose rules are not compiled. */
function validateNested(schema: Schema, at: Pick<At, 'field' | 'errors' | 'place'>): void {
  const { field, errors } = at;
  validateCommon(schema, at);
  validateRuleTexts(schema, field, errors);
  for (const [path, part] of allParts(schema)) {
    validateNested(part, { ...at, field: `${field}.${path}` });
  }
}

function validateRuleTexts(schema: Schema, field: string, errors: FieldErrors): void {
  for (const [index, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    validateRule(rule, schema, `${field}.x-kubernetes-validations[${index}]`, errors);
  }
}

function* partsOf(schema: Schema, at: At): Generator<[Schema, At]> {
  const { properties = {}, items, additionalProperties } = schema;
  const occurrences = occurrencesWithin(schema, at.occurrences);
  const inner = (part: Schema, path: string, place = at.place): At => ({
    ...at,
    occurrences,
    place,
    field: `${at.field}.${path}`,
    level: path === 'items' ? 'item' : 'field',
    isRoot: part['x-kubernetes-embedded-resource'] === true,
  });
  for (const [name, property] of Object.entries(properties)) {
    const isRoot = at.level === 'root';
    const place = placeOfProperty(schema, name, at.place, isRoot);
    yield [property, inner(property, `properties[${name}]`, place)];
  }
  if (typeof items === 'object') {
    const isMap = schema['x-kubernetes-list-type'] === 'map';
    const place = inner(items, 'items');
    yield [items, isMap ? place : { ...place, uncorrelatable: at.uncorrelatable ?? at.field }];
  }
  if (typeof additionalProperties === 'object') {
    const place = placeOfValues(at.place);
    yield [additionalProperties, inner(additionalProperties, 'additionalProperties', place)];
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
  errors.oneOf(`${field}.reason`, reason, reasons);
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
    const why =
      'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
    errors.internal(`${at.field}.x-kubernetes-validations`, why);
    return;
  }
  for (const [index, compiled] of compileRules(schema, type).entries()) {
    const field = `${at.field}.x-kubernetes-validations[${index}]`;
    const { rule, error, messageError, usesOldSelf } = compiled;
    validateCosts(compiled, schema, { ...at, field });
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

function validateCosts({ program, message }: CompiledRule, schema: Schema, at: At): void {
  const { budget, errors, field } = at;
  const root = schemaSize(schema, at.isRoot);
  if (program === undefined || root === undefined) return;
  const sizes = sizesBelow(root);
  const cost = times(program.estimate(sizes), at.occurrences ?? mostInRequest(root));
  budget.observe('estimated rule cost', { field: `${field}.rule`, cost }, errors);
  at.onCost?.(field, cost / mostPerRule);
  if (message === undefined) return;
  const shown = { field: `${field}.messageExpression`, cost: message.estimate(sizes) };
  budget.observe('estimated messageExpression cost', shown, errors);
}

/** Returns a rule as the API server's errors print it: with all members, by their Go names. */
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
