import type { Schema, SchemaRule } from '../../object/schema.js';
import { CelCompileError, CelConstantError } from '../cel/expression.js';
import { compileCel } from '../cel/program.js';
import type { CelProgram } from '../cel/program.js';
import { optionalType } from '../cel/types.js';
import type { CelType } from '../cel/types.js';
import { fieldPathOf } from './field-path.js';

/** A compiled rule of a schema. */
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
    fieldPath: path?.normalized ?? '',
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
