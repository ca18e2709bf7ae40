import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { controllersSuite } from './controllers-suite.js';

describe('the simulated controllers', () => {
  controllersSuite(embeddedTarget);
});
