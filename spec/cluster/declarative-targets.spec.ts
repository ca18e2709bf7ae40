import { targetsSuite } from '../declarative/suite/targets-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('targets of declarative operators on a real API server', () => {
  targetsSuite(clusterTarget);
});
