import { parseableSuite } from '../samples/parseable/suite/parseable-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('The Parseable operator on a real API server', () => {
  parseableSuite(clusterTarget);
});
