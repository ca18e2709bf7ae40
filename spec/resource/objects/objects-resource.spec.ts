import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { objectsSuite } from './suite/objects-suite.js';

describe('Resources that keep objects', () => {
  objectsSuite(embeddedTarget);
});
