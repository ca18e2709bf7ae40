export { startStatefulSetController } from './stateful-set-controller.js';
