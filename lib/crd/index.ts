/*
 * Custom resources as values: schemas, CustomResourceDefinitions, validation and CEL.
 *
 *   s.object(…) ──► schema/ ──► definition/ ──► CustomResourceDefinition, types of the objects
 *   object ──► validation/ by the schema, rules/ by its CEL rules ──► defaulted object, or causes of refusal
 *
 * Read `schema/constructors.ts` (`s`), then `definition/define-resource.ts` and
 * `definition/custom-resource.ts`. `validation/validate-resource.ts` validates as an API server does, and the
 * embedded server uses it. `rules/` compiles the CEL rules of a schema; `cel/` is the language, from
 * `cel/tokens.ts` to `cel/program.ts`, with the costs of API servers in `cel/cost/`. `openapi/` and `data/`
 * hold the schemas of the built-in kinds.
 */
export type { Convertible } from './definition/convert-object.js';
export { CustomResource } from './definition/custom-resource.js';
export type { NamedDefinition } from './definition/custom-resource.js';
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
export type { IntOrString, JsonValue, Schema } from '../object/index.js';
