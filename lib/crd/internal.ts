/*
 * Names of `crd` that are not public, for the other folders of `lib/`. `index.ts` is the public entry.
 */
export { CelCompileError } from './cel/expression.js';
export { GoPattern, goPattern } from './cel/go.js';
export { parseRequestUrl, parseUrl } from './cel/go-url.js';
export { compileCel } from './cel/program.js';
export type { CelProgram } from './cel/program.js';
export type { CelExtension, CelStructType } from './cel/checker.js';
export { declare, overloadsOf } from './cel/overload.js';
export type { Declaration } from './cel/overload.js';
export { parseDuration } from './cel/times.js';
export {
  boolType,
  dynType,
  listType,
  mapType,
  opaqueType,
  stringType,
  structType,
  typeText,
} from './cel/types.js';
export type { CelType } from './cel/types.js';
export { CelDictionary, CelError, CelList, CelObject, CelOpaque } from './cel/values.js';
export type { CelMap, CelValue } from './cel/values.js';
export { isConvertedResource } from './definition/convert-object.js';
export type { ConvertedResource } from './definition/convert-object.js';
export type { WebhookClientConfig } from './definition/custom-resource.js';
export { approvalAnnotation, isProtectedGroup } from './definition/define-resource.js';
export { withoutKeptFields } from './definition/kept-annotations.js';
export { keywordsWithoutStatus } from './definition/schema-metadata.js';
export { allParts } from './definition/schema-parts.js';
export { validateStructure } from './definition/schema-structure.js';
export { builtInDefinitions, definition, rawDefinition, unpack } from './openapi/definitions.js';
export type { RawSchema } from './openapi/definitions.js';
export { minimalValue } from './samples/minimal-value.js';
export { randomValue } from './samples/random-value.js';
export type { InputOf } from './schema/typed-schema.js';
export { withOwnEnum } from './schema/union-schema.js';
export { FieldErrors } from './validation/field-errors.js';
export { compileJsonPath, readJsonPath } from './validation/json-path.js';
export { defaultFields, dropNulls, fillInDefaults, prune } from './validation/prune.js';
export { validateScaleSpec, validateScaleStatus } from './validation/scale-range.js';
export { isKnownFormat } from './validation/schema-formats.js';
export { validateResource } from './validation/validate-resource.js';
