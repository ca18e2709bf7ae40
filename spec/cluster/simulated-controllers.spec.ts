import { controllersSuite } from '../apiserver/controllers/controllers-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('kube-controller-manager, whose behaviour is simulated', () => {
  controllersSuite(clusterTarget);
});
