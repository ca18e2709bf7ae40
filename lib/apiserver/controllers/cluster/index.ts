export {
  startDefaultStorageClass,
  startServiceAccountController,
  startSimulatedNodes,
} from './cluster-objects.js';
