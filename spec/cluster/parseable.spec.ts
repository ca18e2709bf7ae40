import { parseableSuite } from '../samples/parseable/suite/parseable-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('the Parseable operator on a real API server', () => {
  parseableSuite(clusterTarget);
});
