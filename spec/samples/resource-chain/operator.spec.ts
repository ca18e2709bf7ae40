import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { resourceChainSuite } from './suite/resource-chain-suite.js';

describe('the site operator on the embedded server', () => {
  resourceChainSuite(embeddedTarget);
});
