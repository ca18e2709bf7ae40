import { isJsonObject } from '../../object/index.js';
import type { Schema, SchemaRule } from '../../object/index.js';
import { CelCostError, CostMeter } from '../cel/cost/cost-meter.js';
import type { CelProgram } from '../cel/program.js';
import { CelError, CelOptional } from '../cel/values.js';
import type { CelValue } from '../cel/values.js';
import { FieldErrors } from '../validation/field-errors.js';
import { correlation, isUnchanged } from '../validation/validate-schema.js';
import type { SchemaCheck } from '../validation/validate-schema.js';
import { compileRules, ruleTree } from './compile-rules.js';
import type { CompiledRule, RuleTree } from './compile-rules.js';
import { schemaValue } from './schema-type.js';

/** A value to validate against its rules. */
export interface RuleCheck extends SchemaCheck {
  /** Whether the value is the root of a resource, where rules can read `metadata.name`. */
  readonly isRoot?: boolean;
  /** Marks an update: unchanged parts may stay invalid (ratcheting, KEP-4008). @defaultValue false */
  readonly isUpdate?: boolean;
  /** Receives the rule violations of unchanged parts. @defaultValue none */
  readonly warn?: (message: string) => void;
}

/**
 * Evaluates the CEL rules (`x-kubernetes-validations`) of a schema and its subschemas like the API server.
 * Evaluates transition rules only for values that have a matching old value, skips nulls, and reports no
 * error for parts that an update leaves unchanged.
 */
export function validateRules(value: unknown, check: RuleCheck): void {
  const tree = ruleTree(check.schema, check.isRoot ?? false);
  if (tree === undefined) return;
  const isUpdate = check.isUpdate ?? false;
  const budget = new CostMeter(mostPerObject);
  const state = { errors: check.errors, warn: check.warn ?? ignore, budget, stopped: false };
  walk(value, tree, {
    path: check.path,
    old: check.old,
    unchanged: isUpdate && isUnchangedFrom(value, check.old, tree),
    comparable: isUpdate,
    state,
  });
}

const ignore = (): void => undefined;

/** Maximum cost of all rules of an object, as on the API server. */
const mostPerObject = 10_000_000;

interface At {
  readonly path: string;
  readonly old: unknown;
  /** Whether the value, or its nearest comparable ancestor, is unchanged. */
  readonly unchanged: boolean;
  /** Whether the old and the new value can be matched. */
  readonly comparable: boolean;
  readonly state: State;
}

interface State {
  readonly errors: FieldErrors;
  readonly warn: (message: string) => void;
  readonly budget: CostMeter;
  /** Set once the rules cost too much; evaluation then stops. */
  stopped: boolean;
}

function isUnchangedFrom(value: unknown, old: unknown, { schema }: RuleTree): boolean {
  return old !== undefined && isUnchanged(value, old, schema);
}

function walk(value: unknown, tree: RuleTree, at: At): void {
  if (value === null || value === undefined || at.state.stopped) return;
  evaluateRules(value, tree, at);
  for (const part of tree.allOf) walk(value, part, { ...at, unchanged: false });
  if (Array.isArray(value)) walkItems(value, tree, at);
  else if (isJsonObject(value)) walkMembers(value, tree, at);
}

function walkItems(items: readonly unknown[], tree: RuleTree, at: At): void {
  if (tree.items === undefined) return;
  const oldOf = correlation(tree.schema, at.old);
  const before = Array.isArray(at.old) ? (at.old as readonly unknown[]) : [];
  const isMapList = tree.schema['x-kubernetes-list-type'] === 'map';
  for (const [index, item] of items.entries()) {
    const old = oldOf(item);
    const comparable = at.comparable && isMapList;
    const unchanged = comparable
      ? isUnchangedFrom(item, old, tree.items)
      : at.unchanged && before.length > 0;
    const path = `${at.path}[${index}]`;
    walk(item, tree.items, { ...at, path, old, comparable, unchanged });
  }
}

function walkMembers(value: Readonly<Record<string, unknown>>, tree: RuleTree, at: At): void {
  const before = isJsonObject(at.old) ? at.old : {};
  for (const name of Object.keys(value)) {
    const own = tree.properties.get(name);
    const member = own ?? tree.additionalProperties;
    if (member === undefined) continue;
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    const unchanged = at.comparable ? isUnchangedFrom(value[name], old, member) : at.unchanged;
    const path = own === undefined ? `${at.path}[${name}]` : join(at.path, name);
    walk(value[name], member, { ...at, path, old, unchanged });
  }
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function evaluateRules(value: unknown, tree: RuleTree, at: At): void {
  const rules = compileRules(tree.own, tree.type);
  if (rules.length === 0) return;
  const self = convert(value, tree.schema);
  const old = at.old === undefined || at.old === null ? undefined : convert(at.old, tree.schema);
  for (const rule of rules) {
    if (at.state.stopped) return;
    evaluateRule(rule, { value, self, old, tree, at });
  }
}

/** Converts a value, or returns the error if it does not fit its schema: only rules that read it fail. */
function convert(value: unknown, schema: Schema): CelValue | CelError {
  try {
    return schemaValue(value, schema);
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
}

interface Subject {
  readonly value: unknown;
  readonly self: CelValue | CelError;
  readonly old: CelValue | CelError | undefined;
  readonly tree: RuleTree;
  readonly at: At;
}

function evaluateRule(compiled: CompiledRule, subject: Subject): void {
  const { rule, program, usesOldSelf, error } = compiled;
  const { at, tree } = subject;
  const type = tree.schema.type ?? '';
  const fail = (detail: string): void => at.state.errors.invalid(at.path, type, detail);
  if (program === undefined) {
    fail(`rule compile error: ${error ?? ''}`);
    return;
  }
  const optional = rule.optionalOldSelf === true;
  if (usesOldSelf && subject.old === undefined && !optional) return;
  const variables = variablesOf(subject, optional);
  try {
    if (run(program, variables, at.state) === true) return;
  } catch (failure) {
    if (!(failure instanceof CelError)) throw failure;
    if (failure instanceof CelCostError) {
      at.state.stopped = true;
      fail(tooCostly(failure.message, rule));
      return;
    }
    fail(evaluationFailed(failure.message, ruleText(rule)));
    return;
  }
  report(compiled, subject, messageOf(compiled, variables, at.state));
}

type Variables = Readonly<Record<string, CelValue | CelError>>;

function variablesOf({ self, old }: Subject, optional: boolean): Variables {
  if (!optional) return { self, oldSelf: old ?? null };
  return { self, oldSelf: old === undefined ? CelOptional.none : new CelOptional(old) };
}

function run(program: CelProgram, variables: Variables, { budget }: State): CelValue {
  const values: Record<string, CelValue> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (!program.variables.has(name)) continue;
    if (value instanceof CelError) throw value;
    values[name] = value;
  }
  const meter = new CostMeter();
  try {
    return program.evaluate(values, meter);
  } finally {
    charge(budget, meter.spent);
  }
}

const outOfBudget = 'running out of cost budget';

function charge(budget: CostMeter, cost: number): void {
  try {
    budget.charge(cost);
  } catch {
    throw new CelCostError(outOfBudget);
  }
}

function tooCostly(message: string, rule: SchemaRule): string {
  const end = 'no further validation rules will be run';
  if (message === outOfBudget) return `validation failed due to ${message}, ${end}`;
  return `'${message}': ${end} due to call cost exceeds limit for rule: ${ruleText(rule)}`;
}

function evaluationFailed(message: string, rule: string): string {
  if (!message.startsWith('no such overload')) return `${message} evaluating rule: ${rule}`;
  const what = 'call arguments did not match a supported operator, function or macro signature';
  return `'${message}': ${what} for rule: ${rule}`;
}

function ruleText({ message = '', rule }: SchemaRule): string {
  return message === '' ? rule.trim() : message.trim();
}

function messageOf({ rule, message }: CompiledRule, variables: Variables, state: State): string {
  const dynamic = message === undefined ? undefined : evaluateMessage(message, variables, state);
  if (dynamic !== undefined) return dynamic;
  const { message: fixed = '' } = rule;
  return fixed === '' ? `failed rule: ${ruleText(rule)}` : fixed.trim();
}

const longestMessage = 5 * 1024;

/** Returns undefined if evaluation fails or yields an invalid message; the rule's `message` then applies. */
function evaluateMessage(
  program: CelProgram,
  variables: Variables,
  state: State,
): string | undefined {
  try {
    const value = run(program, variables, state);
    const text = typeof value === 'string' ? value.trim() : '';
    const usable = text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= longestMessage;
    return usable ? text : undefined;
  } catch (error) {
    if (error instanceof CelCostError) state.stopped = true;
    if (error instanceof CelError) return undefined;
    throw error;
  }
}

function report(compiled: CompiledRule, { value, tree, at }: Subject, detail: string): void {
  const { rule, usesOldSelf, fieldPath } = compiled;
  const path = fieldPath === '' ? at.path : appended(at.path, fieldPath);
  const isScalar = tree.schema.type !== 'object' && tree.schema.type !== 'array';
  const errors = new FieldErrors();
  switch (rule.reason) {
    case 'FieldValueForbidden':
      errors.forbidden(path, detail);
      break;
    case 'FieldValueRequired':
      errors.required(path, detail);
      break;
    case 'FieldValueDuplicate':
      if (isScalar) errors.duplicate(path, value);
      else errors.duplicateOne(path);
      break;
    case undefined:
    default:
      if (isScalar) errors.invalid(path, value, detail);
      else errors.wrong(path, detail);
  }
  if (usesOldSelf || !at.unchanged) at.state.errors.append(errors.causes);
  else
    for (const { field = '', message = '' } of errors.causes) at.state.warn(`${field}: ${message}`);
}

function appended(path: string, more: string): string {
  if (path === '' || more.startsWith('[')) return `${path}${more}`;
  return `${path}.${more}`;
}
