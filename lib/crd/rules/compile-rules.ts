import { propertyOf } from '../../object/index.js';
import type { Schema, SchemaRule } from '../../object/index.js';
import { CelCompileError, CelConstantError } from '../cel/expression.js';
import { compileCel } from '../cel/program.js';
import type { CelProgram } from '../cel/program.js';
import { optionalType } from '../cel/types.js';
import type { CelType } from '../cel/types.js';
import { schemaType, withTypeAndMeta } from './schema-type.js';

export interface CompiledRule {
  readonly rule: SchemaRule;
  /** undefined if the rule does not compile. */
  readonly program: CelProgram | undefined;
  /** The compile error of the rule. */
  readonly error: string | undefined;
  readonly message: CelProgram | undefined;
  /** The compile error of the messageExpression. */
  readonly messageError: string | undefined;
  /** Whether the rule refers to `oldSelf`. */
  readonly usesOldSelf: boolean;
  /** The normalized `fieldPath`; empty for the field that has the rule. */
  readonly fieldPath: string;
}

// Caches compiled rules for the lifetime of their schema.
const compiled = new WeakMap<Schema, readonly CompiledRule[]>();

/**
 * Compiles the rules of one schema without its subschemas; cached per schema.
 * @param type - the type of `self`
 */
export function compileRules(schema: Schema, type: CelType | undefined): readonly CompiledRule[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (rules.length === 0) return none;
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const result = rules.map((rule) => compileRule(rule, schema, type));
  compiled.set(schema, result);
  return result;
}

const none: readonly CompiledRule[] = [];

function compileRule(rule: SchemaRule, schema: Schema, type: CelType | undefined): CompiledRule {
  const path = rule.fieldPath === undefined ? undefined : fieldPathOf(rule.fieldPath, schema);
  const base = {
    rule,
    program: undefined,
    error: undefined,
    message: undefined,
    messageError: undefined,
    usesOldSelf: false,
    fieldPath: path ?? '',
  };
  if (type === undefined) {
    return { ...base, error: 'failed to convert to declType for CEL validation rules' };
  }
  const old = rule.optionalOldSelf === true ? optionalType(type) : type;
  const variables = new Map([
    ['self', type],
    ['oldSelf', old],
  ]);
  const own = compile(rule.rule, variables, 'bool');
  if (own.program === undefined) {
    const { error = '' } = own;
    return { ...base, error: error === '' ? 'cel expression must evaluate to a bool' : error };
  }
  const usesOldSelf = own.program.variables.has('oldSelf');
  const checked = { ...base, program: own.program, usesOldSelf };
  if (rule.messageExpression === undefined || rule.messageExpression === '') return checked;
  const message = compile(rule.messageExpression, variables, 'string');
  if (message.program !== undefined) return { ...checked, message: message.program };
  const { error = '' } = message;
  const messageError =
    error === '' ? 'messageExpression must evaluate to a string' : `messageExpression ${error}`;
  return { ...checked, messageError };
}

function compile(
  source: string,
  variables: ReadonlyMap<string, CelType>,
  wanted: 'bool' | 'string',
): { readonly program?: CelProgram; readonly error?: string } {
  try {
    const program = compileCel(source, variables);
    return program.type.kind === wanted ? { program } : {};
  } catch (error) {
    if (error instanceof CelCompileError) return { error: `compilation failed: ${error.message}` };
    if (!(error instanceof CelConstantError)) throw error;
    return { error: `program instantiation failed: ${error.message}` };
  }
}

/** The parts of a schema that have rules; validation skips all others. */
export interface RuleTree {
  /** The schema of the value. */
  readonly schema: Schema;
  /** The schema that holds the rules: `schema` or one of its `allOf`. */
  readonly own: Schema;
  /** The type of `self`. */
  readonly type: CelType | undefined;
  readonly properties: ReadonlyMap<string, RuleTree>;
  readonly items: RuleTree | undefined;
  readonly additionalProperties: RuleTree | undefined;
  readonly allOf: readonly RuleTree[];
}

const trees = new WeakMap<Schema, { readonly tree: RuleTree | undefined }>();

/** Returns the rules of a schema; undefined without rules. Cached per schema. */
export function ruleTree(schema: Schema, isRoot: boolean): RuleTree | undefined {
  const known = trees.get(schema);
  if (known !== undefined) return known.tree;
  const tree = hasRules(schema) ? treeOf(schema, schema, isRoot) : undefined;
  trees.set(schema, { tree });
  return tree;
}

function hasRules(schema: Schema, path: readonly Schema[] = []): boolean {
  if (path.includes(schema)) return false;
  const inner = [...path, schema];
  const { properties = {}, items, additionalProperties, allOf = [] } = schema;
  return (
    (schema['x-kubernetes-validations'] ?? []).length > 0 ||
    Object.values(properties).some((one) => hasRules(one, inner)) ||
    (items !== undefined && hasRules(items, inner)) ||
    (typeof additionalProperties === 'object' && hasRules(additionalProperties, inner)) ||
    allOf.some((one) => hasRules(one, inner))
  );
}

/**
 * Returns the rules of a schema and of the schemas inside it; undefined if there are no rules.
 * @param own - the schema with the rules, which may be a part of `allOf`
 * @param schema - the structural schema, which defines the types of the values
 */
function treeOf(own: Schema, schema: Schema, isRoot: boolean): RuleTree | undefined {
  if (!hasRules(own)) return undefined;
  const child = (part: Schema | undefined, full: Schema | undefined) => {
    if (part === undefined || full === undefined) return undefined;
    return treeOf(part, full, full['x-kubernetes-embedded-resource'] === true);
  };
  const properties = new Map<string, RuleTree>();
  for (const [member, part] of Object.entries(own.properties ?? {})) {
    const tree = child(part, schema.properties?.[member]);
    if (tree !== undefined) properties.set(member, tree);
  }
  return {
    schema: isRoot ? withTypeAndMeta(schema) : schema,
    own,
    // `self` is the root of each rule.
    type: schemaType(schema, 'selfType', isRoot),
    properties,
    items: child(own.items, schema.items),
    additionalProperties: child(
      schemaIn(own.additionalProperties),
      schemaIn(schema.additionalProperties),
    ),
    allOf: (own.allOf ?? []).flatMap((part) => treeOf(part, schema, isRoot) ?? []),
  };
}

function schemaIn(given: Schema | boolean | undefined): Schema | undefined {
  return typeof given === 'object' ? given : undefined;
}

const stepForm = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/y;

/**
 * Resolves a path of members and map keys, such as `.spec.labels['app']`, in a schema.
 * @returns the path as causes name it: `spec.labels[app]`; undefined if it does not exist in the schema
 */
export function fieldPathOf(path: string, schema: Schema): string | undefined {
  let current = schema;
  let normalized = '';
  const form = new RegExp(stepForm);
  while (form.lastIndex < path.length) {
    const [, plain, quoted] = form.exec(path) ?? [];
    const name = plain ?? quoted?.replaceAll(/\\(.)/g, '$1');
    if (name === undefined) return undefined;
    const { properties, additionalProperties } = current;
    if (properties !== undefined) {
      const next = propertyOf(current, name);
      if (next === undefined) return undefined;
      current = next;
      normalized += normalized === '' ? name : `.${name}`;
    } else if (typeof additionalProperties === 'object') {
      current = additionalProperties;
      normalized += `[${name}]`;
    } else return undefined;
  }
  return normalized === '' ? undefined : normalized;
}
