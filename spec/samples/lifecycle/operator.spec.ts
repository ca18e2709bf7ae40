import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { lifecycleSuite } from './suite/lifecycle-suite.js';

describe('the SampleConfig operator on the embedded server', () => {
  lifecycleSuite(embeddedTarget);
});
