import { builderSuite } from '../builder/suite/builder-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('The builder on a real API server', () => {
  builderSuite(clusterTarget);
});
