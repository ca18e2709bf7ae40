import { objectsSuite } from '../resource/objects/suite/objects-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('Resources that keep objects, on a real API server', () => {
  objectsSuite(clusterTarget);
});
