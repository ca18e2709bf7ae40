import { managerSuite } from '../manager/suite/manager-suite.js';
import { quarantineSuite } from '../manager/suite/quarantine-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('Manager on a real API server', () => managerSuite(clusterTarget));

describe('Quarantine on a real API server', () => quarantineSuite(clusterTarget));
