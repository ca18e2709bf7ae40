import type { Schema } from '../../object/schema.js';
import { definitionOf } from './built-in-types.js';
import { embeddedSchema } from './embedded-schema.js';
import { builtInType } from './typed-schema.js';
import type { TypedSchema } from './typed-schema.js';

/** Returns a copy of a schema as plain JSON, with references to built-in types resolved. */
export function materialize(schema: TypedSchema<unknown>): Schema {
  const { [builtInType]: name, properties, items, additionalProperties, ...rest } = schema;
  // Symbol keys are internal marks that JSON cannot hold.
  const own = Object.fromEntries(Object.entries(rest)) as Schema;
  const base: Schema = name === undefined ? own : { ...embeddedSchema(definitionOf(name)), ...own };
  if (properties !== undefined) {
    const entries = Object.entries(properties).map(
      ([key, one]) => [key, materialize(one)] as const,
    );
    base.properties = Object.fromEntries(entries);
  }
  if (items !== undefined) base.items = materialize(items);
  if (additionalProperties !== undefined) {
    base.additionalProperties =
      typeof additionalProperties === 'object'
        ? materialize(additionalProperties)
        : additionalProperties;
  }
  return base;
}
