import { plainKindsSuite } from '../controller/suite/plain-kinds-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('kinds given as apiVersion and kind, on a real API server', () => {
  plainKindsSuite(clusterTarget);
});
