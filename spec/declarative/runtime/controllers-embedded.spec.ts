import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { declarativeControllersSuite } from '../suite/controllers-suite.js';

describe('Declarative controllers on the embedded server', () => {
  declarativeControllersSuite(embeddedTarget);
});
