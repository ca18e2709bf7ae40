import { embeddedTarget } from '../builder/suite/embedded-target.js';
import { plainKindsSuite } from './suite/plain-kinds-suite.js';

describe('kinds given as apiVersion and kind', () => {
  plainKindsSuite(embeddedTarget);
});
