import { embeddedDeployedTarget } from '../deployed/embedded-deployed-target.js';
import { deployedSuite } from './suite/deployed-suite.js';

describe('the deployed SampleConfig operator on the embedded server', () => {
  deployedSuite(embeddedDeployedTarget);
});
