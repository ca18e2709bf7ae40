import { embeddedDeployedTarget } from '../deployed/embedded-deployed-target.js';
import { deployedSuite } from './suite/deployed-suite.js';

describe('The deployed Parseable operator on the embedded server', () => {
  deployedSuite(embeddedDeployedTarget);
});
