export type { Convertible } from './definition/convert-object.js';
export { CustomResource } from './definition/custom-resource.js';
export { defineResource, versionOfResource } from './definition/define-resource.js';
export type { DefinedResource, ObjectOf, ObjectOfVersion } from './definition/define-resource.js';
export { InvalidDefinitionError } from './definition/resource-definition.js';
export type {
  ResourceDefinition,
  VersionDefinition,
  VersionObject,
} from './definition/resource-definition.js';
export type { TypedSchema, ValueOf } from './schema/typed-schema.js';
export { s } from './schema/constructors.js';
export type { ValueSchema } from './schema/constructors.js';
