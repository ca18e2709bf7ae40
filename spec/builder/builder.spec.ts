import { builderSuite } from './suite/builder-suite.js';
import { embeddedTarget } from './suite/embedded-target.js';

describe('Builder on the embedded server', () => {
  builderSuite(embeddedTarget);
});
