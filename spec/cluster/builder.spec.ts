import { builderSuite } from '../builder/suite/builder-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('the builder on a real API server', () => {
  builderSuite(clusterTarget);
});
