export { startVolumeController, defaultClassAnnotation } from './volume-controller.js';
