import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { objectsSuite } from './suite/objects-suite.js';

describe('resources that keep objects', () => {
  objectsSuite(embeddedTarget);
});
