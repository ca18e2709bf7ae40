import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { groupSuite } from './group-suite.js';

describe('A group of operators', () => {
  groupSuite(embeddedTarget);
});
