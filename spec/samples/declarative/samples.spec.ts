import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { declarativeSamplesSuite } from './suite/samples-suite.js';

describe('The declarative samples on the embedded server', () => {
  declarativeSamplesSuite(embeddedTarget);
});
