import { controllersSuite } from '../apiserver/controllers/controllers-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('the real kube-controller-manager, which the simulated controllers imitate', () => {
  controllersSuite(clusterTarget);
});
