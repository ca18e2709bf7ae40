import { withOwnEnum } from '../../crd/internal.js';
import type { Schema } from '../../object/index.js';
import { isBuiltInType } from './built-in-types.js';
import type { Problem } from './findings.js';
import type { LintRule } from './lint-rules.js';

/** A problem that `lint` finds in a version. */
export type LintProblem = Problem<LintRule>;

interface Field {
  /** The name of the field; empty for items and values of maps. */
  readonly name: string;
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** Returns the problems of a version's fields, except the fields of built-in types in it. */
export function lintFields(root: Schema): readonly LintProblem[] {
  const fields = [...fieldsOf(root, '')].filter(({ path }) => !isMeta(path));
  return [
    ...fields.flatMap((field) => [...fieldProblems(field)]),
    ...descriptionProblems(fields.filter(({ name }) => name !== '')),
  ];
}

function isMeta(path: string): boolean {
  return /^(?:apiVersion|kind|metadata)(?:[.[]|$)/.test(path);
}

function* fieldsOf(schema: Schema, path: string): Generator<Field> {
  const { properties = {}, required = [], items, additionalProperties } = schema;
  for (const [name, property] of Object.entries(properties)) {
    const isRequired = required.includes(name);
    yield* fieldAndInner({
      name,
      path: path === '' ? name : `${path}.${name}`,
      schema: withOwnEnum(property),
      isRequired,
    });
  }
  const rest = { name: '', isRequired: false };
  if (items !== undefined) yield* fieldAndInner({ ...rest, path: `${path}[*]`, schema: items });
  if (typeof additionalProperties === 'object') {
    yield* fieldAndInner({ ...rest, path: `${path}.*`, schema: additionalProperties });
  }
}

function* fieldAndInner(field: Field): Generator<Field> {
  const { path, schema } = field;
  yield field;
  const isOwn = path === 'spec' || path === 'status' || !isBuiltInType(schema);
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  if (isOwn && !isResource) yield* fieldsOf(schema, path);
}

function* fieldProblems(field: Field): Generator<LintProblem> {
  const { path } = field;
  const { type } = field.schema;
  const problem = (rule: LintRule, message: string): LintProblem => ({ rule, path, message });
  yield* nameProblems(field, problem);
  if (type === 'number') {
    yield problem(
      'no-floats',
      'a floating-point number changes on its way through clients; use an integer of a smaller unit, or a quantity such as "1.5"',
    );
  }
  if (type === 'boolean') {
    yield problem('no-booleans', 'a boolean can never get a third value; consider an enum');
  }
  yield* enumProblems(field, problem);
  yield* listProblems(field, problem);
  yield* objectProblems(field, problem);
  if (field.isRequired && field.schema.default !== undefined) {
    yield problem(
      'required-default',
      'is required and has a default, which the server fills in first: omit it from required',
    );
  }
  if (isUnbounded(field.schema)) {
    yield problem(
      'bounds',
      `has no ${type === 'string' ? 'maxLength' : type === 'array' ? 'maxItems' : 'maxProperties'}: only the size of a request limits it`,
    );
  }
}

type ProblemOf = (rule: LintRule, message: string) => LintProblem;

const durations = /(?:timeout|interval|period|delay|ttl|duration|deadline|backoff)$/i;

function* nameProblems({ name, path, schema }: Field, problem: ProblemOf): Generator<LintProblem> {
  if (name === '') return;
  if (!/^[a-z][a-zA-Z0-9]*$/.test(name)) {
    yield problem('field-name', `the name ${name} is not in camelCase`);
  }
  if (schema.type === 'integer' && durations.test(name)) {
    yield problem('unit-in-name', `an integer needs its unit in the name: ${name}Seconds`);
  }
  if (schema.type === 'string' && /Timestamp$/.test(name)) {
    yield problem('time-name', `the name of a time ends in Time: ${name.replace(/stamp$/, '')}`);
  }
  if (path === 'status.phase') {
    yield problem('no-phase', 'clients that know the phases fail on a new one; use conditions');
  }
}

function* enumProblems({ schema }: Field, problem: ProblemOf): Generator<LintProblem> {
  const odd = (schema.enum ?? []).filter(
    (value) => typeof value === 'string' && /[a-zA-Z]/.test(value) && !camelCase.test(value),
  );
  if (odd.length === 0) return;
  const shown = odd.slice(0, mostShown).map((value) => JSON.stringify(value));
  const more = odd.length > mostShown ? ` and ${odd.length - mostShown} more` : '';
  yield problem('enum-case', `values of enums are in CamelCase, unlike ${shown.join(', ')}${more}`);
}

/** Matches `CamelCase` and `HTTP`, also with a number at the end: `HTTP-01`, `V1.0`. */
const camelCase = /^[A-Z][A-Za-z0-9]*(?:[-.]\d+)*$/;

const mostShown = 3;

function* listProblems({ name, path, schema }: Field, problem: ProblemOf): Generator<LintProblem> {
  if (schema.type !== 'array') return;
  const { items = {} } = schema;
  const listType = schema['x-kubernetes-list-type'];
  const fields = items.properties ?? {};
  const isConditions =
    name === 'conditions' &&
    path.startsWith('status') &&
    fields['type'] !== undefined &&
    fields['status'] !== undefined;
  if (isConditions) {
    const keys = schema['x-kubernetes-list-map-keys'] ?? [];
    if (listType !== 'map' || keys.join() !== 'type') {
      yield problem(
        'conditions',
        'set x-kubernetes-list-type: map and x-kubernetes-list-map-keys: [type]; otherwise appliers replace each other’s conditions',
      );
    }
    return;
  }
  // The name of a reference is not unique without its kind.
  const names = fields['kind'] === undefined && !isBuiltInType(items) ? ['name', 'key', 'id'] : [];
  const key = names.find(
    (each) => fields[each]?.type === 'string' && items.required?.includes(each),
  );
  if (listType !== undefined || key === undefined) return;
  yield problem(
    'list-type',
    `server-side apply replaces the list as a whole; set x-kubernetes-list-type: map with the key ${key}, or atomic if that is meant`,
  );
}

function* objectProblems({ path, schema }: Field, problem: ProblemOf): Generator<LintProblem> {
  const { additionalProperties, properties } = schema;
  const isMap = typeof additionalProperties === 'object';
  if (isMap && additionalProperties.properties !== undefined) {
    yield problem(
      'map-of-objects',
      'a map of objects; use a list of objects with a name, and the list type map',
    );
  }
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  if (!isOpen || isResource || schema.type !== 'object') return;
  if (path === 'spec' || path === 'status' || properties !== undefined) {
    yield problem(
      'preserve-unknown-fields',
      'keeps unknown fields, so that the server does not report misspelt ones; describe the fields, or put free ones into a field of their own',
    );
  }
}

function isUnbounded(schema: Schema): boolean {
  const { type, maxLength, maxItems, maxProperties, additionalProperties } = schema;
  if (schema.enum !== undefined || schema.format !== undefined) return false;
  if (type === 'string') return maxLength === undefined;
  if (type === 'array') return maxItems === undefined;
  return (
    type === 'object' && typeof additionalProperties === 'object' && maxProperties === undefined
  );
}

function descriptionProblems(fields: readonly Field[]): readonly LintProblem[] {
  const missing = fields.filter(({ schema }) => (schema.description ?? '') === '');
  if (missing.length === 0) return [];
  const paths = missing.slice(0, mostShown).map(({ path }) => path);
  const more = missing.length > mostShown ? ' and others' : '';
  const message = `${missing.length} of ${fields.length} fields have no description, which kubectl explain shows: ${paths.join(', ')}${more}`;
  return [{ rule: 'description', path: '', message }];
}
