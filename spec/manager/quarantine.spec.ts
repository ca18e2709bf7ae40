import { embeddedTarget } from '../builder/suite/embedded-target.js';
import { quarantineSuite } from './suite/quarantine-suite.js';

describe('Quarantine on the embedded server', () => quarantineSuite(embeddedTarget));
