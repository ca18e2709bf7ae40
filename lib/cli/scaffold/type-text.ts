import type { Schema } from '../../object/schema.js';

const open = 'Readonly<Record<string, unknown>>';

/**
 * Returns the TypeScript type for values of a structural schema.
 * @param indentation - of the line with the type
 */
export function typeText(schema: Schema, indentation: string): string {
  const { type, enum: choices = [], items = {}, properties, additionalProperties } = schema;
  if (schema['x-kubernetes-int-or-string'] === true) return 'number | string';
  if (type === undefined) {
    return schema['x-kubernetes-preserve-unknown-fields'] === true ? 'unknown' : open;
  }
  const nullable = schema.nullable === true ? ' | null' : '';
  switch (type) {
    case 'boolean':
      return `boolean${nullable}`;
    case 'integer':
    case 'number':
      return `number${nullable}`;
    case 'string':
      return `${stringType(choices)}${nullable}`;
    case 'array': {
      const item = typeText(items, indentation);
      return `readonly ${item.includes(' | ') ? `(${item})` : item}[]${nullable}`;
    }
    case 'object':
      if (properties !== undefined) return `${objectType(schema, indentation)}${nullable}`;
      if (typeof additionalProperties !== 'object') return `${open}${nullable}`;
      return `Readonly<Record<string, ${typeText(additionalProperties, indentation)}>>${nullable}`;
  }
}

/** Returns a union of the choices; `string` without choices, or if they do not fit on a line. */
function stringType(choices: readonly unknown[]): string {
  const literals = choices.filter((one) => typeof one === 'string').map((one) => `'${one}'`);
  const union = literals.join(' | ');
  return union === '' || union.length > 50 || union.includes('\\') ? 'string' : union;
}

function objectType({ properties = {}, required = [] }: Schema, indentation: string): string {
  const inner = `${indentation}  `;
  const fields = Object.entries(properties).map(([name, property]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name).replaceAll('"', "'");
    const sign = required.includes(name) ? ':' : '?:';
    return `${inner}readonly ${key}${sign} ${typeText(property, inner)};\n`;
  });
  return fields.length === 0 ? open : `{\n${fields.join('')}${indentation}}`;
}
