import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { declarativeSamplesSuite } from './suite/samples-suite.js';

describe('the declarative samples on the embedded server', () => {
  declarativeSamplesSuite(embeddedTarget);
});
