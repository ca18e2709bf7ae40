import { managerSuite } from '../manager/suite/manager-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('Manager on a real API server', () => managerSuite(clusterTarget));
