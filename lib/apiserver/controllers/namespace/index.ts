export { startNamespaceController } from './namespace-controller.js';
