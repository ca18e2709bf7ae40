export { startReplicaSetController } from './replica-set-controller.js';
