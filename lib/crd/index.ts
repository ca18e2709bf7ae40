export type { Convertible } from './definition/convert-object.js';
export { CelCompileError } from './cel/expression.js';
export type { CelIssue } from './cel/expression.js';
export { CustomResource } from './definition/custom-resource.js';
export type { NamedDefinition, WebhookClientConfig } from './definition/custom-resource.js';
export { defineResource, versionOfResource } from './definition/define-resource.js';
export type { DefinedResource, ObjectOf, ObjectOfVersion } from './definition/define-resource.js';
export { InvalidDefinitionError } from './definition/resource-definition.js';
export type {
  DefinitionProblem,
  ConversionDefinition,
  NamedVersion,
  PrinterColumn,
  ResourceDefinition,
  ScaleDefinition,
  SpokeConversion,
  StorageVersion,
  VersionDefinition,
  VersionInput,
  VersionObject,
} from './definition/resource-definition.js';
export type {
  BuiltInTypeName,
  BuiltInTypes,
  InputOf,
  ObjectInput,
  ObjectValue,
  Presence,
  Properties,
  TypedSchema,
  ValueOf,
} from './schema/typed-schema.js';
export { s } from './schema/constructors.js';
export type {
  ArrayOptions,
  EmbeddedResourceOptions,
  MapOptions,
  NumberOptions,
  ObjectOptions,
  SchemaOptions,
  StatusProperties,
  StringOptions,
  ValueSchema,
} from './schema/constructors.js';
