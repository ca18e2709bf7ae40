export { startDaemonSetController } from './daemon-set-controller.js';
