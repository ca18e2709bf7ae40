export { definition, rawDefinition } from '../../crd/openapi/definitions.js';
export type { RawSchema } from '../../crd/openapi/definitions.js';
