import { objectsSuite } from '../resource/objects/suite/objects-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('resources that keep objects, on a real API server', () => {
  objectsSuite(clusterTarget);
});
