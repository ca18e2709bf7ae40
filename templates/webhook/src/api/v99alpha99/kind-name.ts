// Not of this template: another one makes it.
export { kindNameV99alpha99 } from '../../../../version/src/api/v99alpha99/kind-name.js';
export type { KindNameV99alpha99 } from '../../../../version/src/api/v99alpha99/kind-name.js';
