import { lifecycleSuite } from '../samples/lifecycle/suite/lifecycle-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('the SampleConfig operator on a real API server', () => {
  lifecycleSuite(clusterTarget);
});
