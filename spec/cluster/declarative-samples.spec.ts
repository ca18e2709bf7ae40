import { declarativeSamplesSuite } from '../samples/declarative/suite/samples-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('the declarative samples on a real API server', () => {
  declarativeSamplesSuite(clusterTarget);
});
