export { startAutoscalerController } from './autoscaler-controller.js';
