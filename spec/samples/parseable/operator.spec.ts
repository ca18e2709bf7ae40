import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { parseableSuite } from './suite/parseable-suite.js';

describe('the Parseable operator on the embedded server', () => {
  parseableSuite(embeddedTarget);
});
