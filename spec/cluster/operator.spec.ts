import { operatorSuite } from '../operator/suite/operator-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('Operator on a real API server', () => operatorSuite(clusterTarget));
