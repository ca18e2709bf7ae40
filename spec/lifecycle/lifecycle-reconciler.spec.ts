import { embeddedTarget } from '../builder/suite/embedded-target.js';
import { lifecycleSuite } from './suite/lifecycle-suite.js';

describe('LifecycleReconciler', () => {
  lifecycleSuite(embeddedTarget);
});
