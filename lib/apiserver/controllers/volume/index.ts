export { startVolumeController } from './volume-controller.js';
export { defaultClassAnnotation } from './claim-binding.js';
