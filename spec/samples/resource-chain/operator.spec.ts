import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { resourceChainSuite } from './suite/resource-chain-suite.js';

describe('the operator of the resource-chain sample on the embedded server', () => {
  resourceChainSuite(embeddedTarget);
});
