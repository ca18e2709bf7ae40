import type { Schema } from '../../object/schema.js';

/** A resolved field path. */
export interface FieldPath {
  /** In the form that causes use: `.spec.ports`, `.labels[app]`, without the first dot. */
  readonly normalized: string;
  readonly schema: Schema;
}

const stepForm = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/y;

/**
 * Resolves a path of members and map keys, such as `.spec.labels['app']`, in a schema.
 * @returns undefined if the path does not exist in the schema
 */
export function fieldPathOf(path: string, schema: Schema): FieldPath | undefined {
  let current = schema;
  let normalized = '';
  const form = new RegExp(stepForm);
  while (form.lastIndex < path.length) {
    const [, plain, quoted] = form.exec(path) ?? [];
    const name = plain ?? quoted?.replaceAll(/\\(.)/g, '$1');
    if (name === undefined) return undefined;
    const { properties, additionalProperties } = current;
    if (properties !== undefined) {
      const next = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (next === undefined) return undefined;
      current = next;
      normalized += normalized === '' ? name : `.${name}`;
    } else if (typeof additionalProperties === 'object') {
      current = additionalProperties;
      normalized += `[${name}]`;
    } else return undefined;
  }
  return normalized === '' ? undefined : { normalized, schema: current };
}
