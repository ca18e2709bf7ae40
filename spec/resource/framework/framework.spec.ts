import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { frameworkSuite } from './suite/framework-suite.js';

describe('Framework', () => {
  frameworkSuite(embeddedTarget);
});
