import { embeddedTarget } from '../builder/suite/embedded-target.js';
import { operatorSuite } from './suite/operator-suite.js';

describe('Operator on the embedded server', () => operatorSuite(embeddedTarget));
