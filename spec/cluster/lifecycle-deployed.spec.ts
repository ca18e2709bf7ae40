import { deployedSuite } from '../samples/lifecycle/suite/deployed-suite.js';
import { realDeployedTarget } from './deployed-target.js';

describe('the deployed SampleConfig operator on a real API server', () => {
  deployedSuite(realDeployedTarget);
});
