import { declarativeControllersSuite } from '../declarative/suite/controllers-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('declarative controllers on a real API server', () => {
  declarativeControllersSuite(clusterTarget);
});
