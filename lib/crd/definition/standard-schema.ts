import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { errorMessage, isOperatorError } from '../../system/index.js';
import { isJsonObject } from '../../object/index.js';
import type { KubernetesObject, Schema, StatusCause } from '../../object/index.js';
import { mappedParts } from './schema-parts.js';

/** The properties of a schema in Standard Schema and Standard JSON Schema. */
export type StandardProps<T> = StandardSchemaV1.Props<unknown, T> &
  StandardJSONSchemaV1.Props<unknown, T>;

/** The parts of a custom resource that frameworks use. */
interface Validated<T> {
  readonly causesOf: (object: KubernetesObject) => readonly StatusCause[];
  /** Returns the object as the API server would store it. */
  readonly stored: (object: KubernetesObject) => T;
  readonly schema: () => Schema;
}

/** Returns the Standard Schema of a custom resource. */
export function standardProps<T>(validated: Validated<T>): StandardProps<T> {
  const json = ({ target }: StandardJSONSchemaV1.Options): Record<string, unknown> =>
    jsonSchemaOf(validated.schema(), target);
  return {
    version: 1,
    vendor: 'operator-builder',
    validate: (value) => validate(validated, value as KubernetesObject),
    jsonSchema: { input: json, output: json },
  };
}

function validate<T>(
  { causesOf, stored }: Validated<T>,
  object: KubernetesObject,
): StandardSchemaV1.Result<T> {
  try {
    const causes = causesOf(object);
    if (causes.length === 0) return { value: stored(object) };
    return { issues: causes.map((cause) => issueOf(cause, object)) };
  } catch (error) {
    // `InvalidObject`: the value is not an object of this kind.
    if (!isOperatorError(error, 'InvalidObject')) throw error;
    return { issues: [{ message: errorMessage(error), path: [] }] };
  }
}

function issueOf(
  { field = '', message = '' }: StatusCause,
  object: KubernetesObject,
): StandardSchemaV1.Issue {
  // The server names the field `<nil>` if a cause concerns the whole object.
  return { message, path: field === '<nil>' ? [] : pathOf(field, object) };
}

/** Splits a field such as `spec.ports[0].name` at the names that the object has: these may contain dots. */
function pathOf(field: string, object: unknown): readonly (string | number)[] {
  const path: (string | number)[] = [];
  let [rest, value] = [field, object];
  while (rest !== '') {
    const [own] = Object.keys(isJsonObject(value) ? value : {})
      .filter(
        (name) =>
          name !== '' && rest.startsWith(name) && /^(?:[.[]|$)/.test(rest.slice(name.length)),
      )
      .toSorted((one, other) => other.length - one.length);
    const [step = rest, key] = /^\[([^\]]*)\]|^[^.[\]]+/.exec(rest) ?? [];
    const name = own ?? key ?? step;
    const isIndex = key !== undefined && /^\d+$/.test(key) && Array.isArray(value);
    path.push(isIndex ? Number(key) : name);
    value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
    rest = rest.slice((own ?? step).length).replace(/^\./, '');
  }
  return path;
}

const drafts = ['draft-2020-12', 'draft-07'];

/** Converts a structural schema to a JSON Schema. @throws Error unknown target */
function jsonSchemaOf(schema: Schema, target: string): Record<string, unknown> {
  if (target === 'openapi-3.0') return structuredClone(schema) as Record<string, unknown>;
  if (!drafts.includes(target)) {
    throw new Error(`JSON Schema: want openapi-3.0 or one of ${drafts.join(', ')}, got ${target}`);
  }
  return converted(schema);
}

function converted(schema: Schema): Record<string, unknown> {
  if (schema.nullable === true && schema.enum === undefined && hasAlternatives(schema)) {
    // The API server does not apply the alternatives to null.
    return { anyOf: [{ type: 'null' }, converted({ ...schema, nullable: false })] };
  }
  const { nullable, type, exclusiveMinimum, exclusiveMaximum, minimum, maximum, ...rest } = schema;
  const { not, ...others } = rest;
  const isEither = schema['x-kubernetes-int-or-string'] === true;
  const types = isEither ? ['integer', 'string'] : type === undefined ? [] : [type];
  const all = nullable === true && types.length > 0 ? [...types, 'null'] : types;
  const own = Object.entries(others).filter(([name]) => !(isEither && name === 'anyOf'));
  const lists = own.map(([name, value]) => {
    return [name, junctors.includes(name) ? (value as readonly Schema[]).map(converted) : value];
  });
  return {
    ...(all.length > 0 && { type: all.length === 1 ? all[0] : all }),
    ...(Object.fromEntries(lists) as object),
    ...limit('inimum', minimum, exclusiveMinimum),
    ...limit('aximum', maximum, exclusiveMaximum),
    ...(not !== undefined && { not: converted(not) }),
    ...mappedParts(schema, converted),
  };
}

const junctors = ['allOf', 'anyOf', 'oneOf'];

function hasAlternatives(schema: Schema): boolean {
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  const isEither = schema['x-kubernetes-int-or-string'] === true;
  return [...allOf, ...(isEither ? [] : anyOf), ...oneOf].length > 0 || not !== undefined;
}

/** Returns the keyword of a limit. JSON Schema has another keyword for a limit that excludes its own value. */
function limit(name: string, value: number | undefined, isExclusive: boolean | undefined): object {
  if (value === undefined) return {};
  return isExclusive === true ? { [`exclusiveM${name}`]: value } : { [`m${name}`]: value };
}
