export { startDisruptionController } from './disruption-controller.js';
