/**
 * A structural schema with every `$ref` resolved: the JSON Schema of OpenAPI v3 with Kubernetes' extensions.
 * Each type has one schema object however often the type is used, so that computed data can be kept in a
 * `WeakMap`. Recursive types form a cycle.
 */
export interface Schema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  format?: string;
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  required?: readonly string[];
  default?: unknown;
  enum?: readonly unknown[];
  nullable?: boolean;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  allOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  not?: Schema;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-validations'?: readonly SchemaRule[];
}

/** Returns the schema of an own property; undefined if the schema declares none. */
export function propertyOf({ properties = {} }: Schema, name: string): Schema | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** Returns the schema of member `name`: of the property, or of the values of a map; undefined without either. */
export function memberSchemaOf(schema: Schema, name: string): Schema | undefined {
  const { additionalProperties } = schema;
  const values = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  return propertyOf(schema, name) ?? values;
}

/** Returns the strategies of a strategic merge, for example `['merge', 'retainKeys']`. */
export function patchStrategiesOf(schema: Schema | undefined): readonly string[] {
  return schema?.['x-kubernetes-patch-strategy']?.split(',') ?? [];
}

/** A CEL rule of a schema (`x-kubernetes-validations`). */
export interface SchemaRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

/** A number, or a percentage of a total: `3` or `25%`. */
export type IntOrString = number | string;
