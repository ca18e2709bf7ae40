export { startJobController } from './job-controller.js';
export type { JobOptions } from './job-controller.js';
