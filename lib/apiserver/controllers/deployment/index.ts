export { startDeploymentController } from './deployment-controller.js';
