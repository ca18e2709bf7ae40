import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { resourceChainSuite } from './suite/resource-chain-suite.js';

describe('The site operator on the embedded server', () => {
  resourceChainSuite(embeddedTarget);
});
