import { deployedSuite } from '../samples/parseable/suite/deployed-suite.js';
import { realDeployedTarget } from './deployed-target.js';

describe('the deployed Parseable operator on a real API server', () => {
  deployedSuite(realDeployedTarget);
});
