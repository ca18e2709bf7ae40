import { declarativeManagerSuite } from '../declarative/suite/manager-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('DeclarativeManager on a real API server', () => declarativeManagerSuite(clusterTarget));
