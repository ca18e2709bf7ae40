import { embeddedTarget } from '../builder/suite/embedded-target.js';
import { managerSuite } from './suite/manager-suite.js';

describe('Manager on the embedded server', () => managerSuite(embeddedTarget));
