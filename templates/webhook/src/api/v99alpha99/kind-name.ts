// Placeholder for type checks: another template generates this file.
export { kindNameV99alpha99 } from '../../../../version/src/api/v99alpha99/kind-name.js';
export type { KindNameV99alpha99 } from '../../../../version/src/api/v99alpha99/kind-name.js';
