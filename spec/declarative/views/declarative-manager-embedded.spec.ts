import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { declarativeManagerSuite } from '../suite/manager-suite.js';

describe('DeclarativeManager on the embedded server', () =>
  declarativeManagerSuite(embeddedTarget));
