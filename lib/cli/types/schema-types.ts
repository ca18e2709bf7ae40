import { withOwnEnum } from '../../crd/internal.js';
import { isJsonObject } from '../../object/index.js';
import type { Schema } from '../../object/index.js';
import { comment, isIdentifier, lineWidth, literal } from './source-text.js';

/** A field of an object schema. */
interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly isOptional: boolean;
}

/**
 * Writes the TypeScript types of structural schemas as source text. Objects with fields become interfaces, named by
 * their path: `spec.privateKey` of a Certificate is `CertificateSpecPrivateKey`.
 */
export class SchemaTypes {
  readonly #interfaces = new Map<string, string>();
  readonly #reserved: ReadonlySet<string>;

  /** @param reserved - names that the interfaces must not have */
  constructor(reserved: Iterable<string> = []) {
    this.#reserved = new Set(reserved);
  }

  /** Source text of the interfaces, in the order of their first use. */
  get interfaces(): readonly string[] {
    return [...this.#interfaces.values()];
  }

  /**
   * Returns the type of a schema's values.
   * @param path - the name of an interface, if the schema needs one
   */
  typeOf(schema: Schema, path: string): string {
    const type = this.#baseOf(withOwnEnum(schema), path);
    return schema.nullable === true && type !== 'unknown' ? `${type} | null` : type;
  }

  /** Returns the lines of an interface's fields, with their doc comments. */
  fields(schema: Schema, path: string): readonly string[] {
    return this.#fieldLines(fieldsOf(schema), path);
  }

  #fieldLines(fields: readonly Field[], path: string): string[] {
    return fields.flatMap(({ name, schema, isOptional }) => [
      ...comment(schema.description, '  '),
      ...fieldLines(
        `${keyOf(name)}${isOptional ? '?' : ''}:`,
        this.typeOf(schema, path + pascal(name)),
      ),
    ]);
  }

  #baseOf(schema: Schema, path: string): string {
    if (schema['x-kubernetes-int-or-string'] === true) return 'number | string';
    const values = (schema.enum ?? []).filter((value) => value !== null);
    if (values.length > 0) return values.map((value) => literal(value)).join(' | ');
    switch (schema.type) {
      case 'string':
      case 'boolean':
        return schema.type;
      case 'integer':
      case 'number':
        return 'number';
      case 'array':
        return listOf(this.typeOf(schema.items ?? {}, path));
      case 'object':
        return this.#objectType(schema, path);
      case undefined:
        break;
    }
    return 'unknown';
  }

  #objectType(schema: Schema, path: string): string {
    const { additionalProperties } = schema;
    const fields = fieldsOf(schema);
    if (fields.length > 0) return this.#interface(path, { fields, schema });
    if (isJsonObject(additionalProperties)) {
      return `Record<string, ${this.typeOf(additionalProperties, path)}>`;
    }
    return 'Record<string, unknown>';
  }

  #interface(
    path: string,
    { fields, schema }: { readonly fields: readonly Field[]; readonly schema: Schema },
  ): string {
    const name = this.#freeName(path);
    // Reserves the name before the interfaces of the fields take theirs.
    this.#interfaces.set(name, '');
    const lines = this.#fieldLines(fields, name);
    if (schema['x-kubernetes-preserve-unknown-fields'] === true)
      lines.push('  [field: string]: unknown;');
    const doc = comment(schema.description, '');
    this.#interfaces.set(name, [...doc, `export interface ${name} {`, ...lines, '}'].join('\n'));
    return name;
  }

  /** Names of fields may differ in case or punctuation only. */
  #freeName(path: string): string {
    const isTaken = (name: string): boolean =>
      this.#interfaces.has(name) || this.#reserved.has(name);
    let name = path;
    for (let number = 2; isTaken(name); number++) name = `${path}${number}`;
    return name;
  }
}

/** A field with a default is optional: the API server fills it in. */
function fieldsOf(schema: Schema): readonly Field[] {
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).map(([name, field]) => {
    const isOptional = !required.includes(name) || field.default !== undefined;
    return { name, schema: field, isOptional };
  });
  if (schema['x-kubernetes-embedded-resource'] !== true) return fields;
  return [...embeddedFields.filter(({ name }) => properties[name] === undefined), ...fields];
}

/** The fields of every embedded resource; schemas need not name them. */
const embeddedFields: readonly Field[] = [
  { name: 'apiVersion', schema: { type: 'string' }, isOptional: false },
  { name: 'kind', schema: { type: 'string' }, isOptional: false },
  { name: 'metadata', schema: { type: 'object' }, isOptional: true },
];

/** Returns `  key: type;`, with a line for each member of a union that is too long for one. */
function fieldLines(key: string, type: string): readonly string[] {
  const line = `  ${key} ${type};`;
  if (line.length <= lineWidth || !type.includes(' | ')) return [line];
  const [, list] = /^\((.+)\)\[\]$/.exec(type) ?? [];
  const members = (list ?? type).split(' | ').map((member) => `    | ${member}`);
  if (list !== undefined) return [`  ${key} (`, ...members, '  )[];'];
  const next = `    ${type};`;
  if (next.length <= lineWidth) return [`  ${key}`, next];
  return [`  ${key}`, ...members.slice(0, -1), `${members.at(-1) ?? ''};`];
}

function listOf(type: string): string {
  const isUnion = type.includes('|') && !/^Record<.*>$/.test(type);
  return isUnion ? `(${type})[]` : `${type}[]`;
}

function keyOf(name: string): string {
  return isIdentifier(name) ? name : literal(name);
}

/** Returns `privateKey` or `private-key` as `PrivateKey`. */
function pascal(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
