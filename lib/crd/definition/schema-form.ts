import { writtenJunctors, writtenParts } from './schema-parts.js';
import { isJsonObject } from '../../object/index.js';
import type { SchemaRule } from '../../object/index.js';
import { isBuiltInType, builtInType } from '../schema/typed-schema.js';
import { jsonProblem } from '../validation/json-problem.js';
import type { DefinitionProblem } from './resource-definition.js';

/** Maximum nesting depth: the code that walks schemas is recursive. */
const deepest = 300;

/**
 * Returns the problems in a schema's form, before its keywords are checked. Plain JavaScript or external JSON
 * may contain anything in place of a schema, even a cycle.
 */
export function schemaFormProblems(schema: unknown, field: string): DefinitionProblem[] {
  return problemsOf(schema, { field, around: [], nested: false });
}

interface At {
  readonly field: string;
  readonly around: readonly unknown[];
  /** Whether the schema is inside an `allOf`, `anyOf`, `oneOf` or `not`. */
  readonly nested: boolean;
}

function problemsOf(schema: unknown, { field, around, nested }: At): DefinitionProblem[] {
  const one = (message: string): DefinitionProblem[] => [{ field, message }];
  if (!isJsonObject(schema)) return one('must be a schema: use s.object(…), s.string(…), …');
  if (around.includes(schema)) return one('must not contain itself: recursive schemas have no CRD');
  if (around.length >= deepest) return one(`must not be nested more than ${deepest} levels deep`);
  const { [builtInType]: name } = schema as { readonly [builtInType]?: unknown };
  if (name !== undefined) {
    if (nested) return one('must not be a built-in type within allOf, anyOf, oneOf or not');
    if (!isBuiltInType(name))
      return one(`${JSON.stringify(name)} is not a built-in type of Kubernetes`);
  }
  const inner = { around: [...around, schema], nested };
  return [
    ...writtenParts(schema).flatMap(([path, part]) =>
      problemsOf(part, { ...inner, field: `${field}.${path}` }),
    ),
    ...writtenJunctors(schema).flatMap(([path, part]) =>
      problemsOf(part, { ...inner, nested: true, field: `${field}.${path}` }),
    ),
    ...ruleProblems(schema['x-kubernetes-validations'], `${field}.x-kubernetes-validations`),
    ...valueProblems(schema, field),
  ];
}

const ruleFields: Readonly<Record<keyof SchemaRule, true>> = {
  ...{ rule: true, message: true, messageExpression: true, reason: true },
  ...{ fieldPath: true, optionalOldSelf: true },
};

function ruleProblems(rules: unknown, field: string): DefinitionProblem[] {
  if (rules === undefined) return [];
  if (!Array.isArray(rules)) return [{ field, message: 'must be a list of rules' }];
  return rules.flatMap((rule: unknown, index) => {
    const at = `${field}[${index}]`;
    if (!isJsonObject(rule) || typeof rule['rule'] !== 'string') {
      const message =
        'must be a rule: a string with a CEL expression, or an object with one as rule';
      return [{ field: at, message }];
    }
    const unknown = Object.keys(rule).filter((name) => !Object.hasOwn(ruleFields, name));
    const message = `is not a field of a rule: want ${Object.keys(ruleFields).join(', ')}`;
    return unknown.map((name) => ({ field: `${at}.${name}`, message }));
  });
}

/** Keywords whose values are JSON. */
const valueKeywords = [
  ...['default', 'enum', 'example', 'minimum', 'maximum', 'multipleOf', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties'],
];

function valueProblems(schema: Record<string, unknown>, field: string): DefinitionProblem[] {
  return valueKeywords.flatMap((keyword) => {
    const problem = jsonProblem(schema[keyword]);
    return problem === undefined ? [] : [{ field: `${field}.${keyword}`, message: problem }];
  });
}
