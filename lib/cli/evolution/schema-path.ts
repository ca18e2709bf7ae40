import { compileJsonPath } from '../../crd/internal.js';
import type { Schema } from '../../object/index.js';

/** Returns the schema of the values at a JSON path such as `.status.conditions[?(@.type=="Ready")].status`. */
export function schemaAt(root: Schema, jsonPath: string): Schema | undefined {
  let schema: Schema | undefined = root;
  for (const [depth, step] of compileJsonPath(jsonPath).entries()) {
    if (schema['x-kubernetes-preserve-unknown-fields'] === true) return anything;
    if (step.type === 'unsupported') return anything;
    // An API server adds these fields to the schema.
    if (depth === 0 && step.type === 'member' && standard.includes(step.name)) return anything;
    schema =
      step.type === 'member' ? memberOf(schema, step.name) : (schema.items ?? entriesOf(schema));
    if (schema === undefined) return undefined;
  }
  return schema;
}

const standard = ['apiVersion', 'kind', 'metadata'];
const anything: Schema = { type: 'string', 'x-kubernetes-preserve-unknown-fields': true };

function memberOf(schema: Schema, name: string): Schema | undefined {
  const { properties = {} } = schema;
  return Object.hasOwn(properties, name) ? properties[name] : entriesOf(schema);
}

function entriesOf({ additionalProperties }: Schema): Schema | undefined {
  if (additionalProperties === true) return anything;
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}
