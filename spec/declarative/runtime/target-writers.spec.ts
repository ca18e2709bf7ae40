import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { targetsSuite } from '../suite/targets-suite.js';

describe('The targets of declarative operators', () => {
  targetsSuite(embeddedTarget);
});
