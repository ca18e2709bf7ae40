import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { objectsSuite } from './suite/objects-suite.js';

describe('objectsResource and similar functions, whose resources keep objects as desired', () => {
  objectsSuite(embeddedTarget);
});
