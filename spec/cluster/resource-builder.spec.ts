import { acceptedObjectsSuite } from '../lifecycle/resource-builder/suite/accepted-objects-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('objects of a ResourceBuilder on a real API server', () => {
  acceptedObjectsSuite(clusterTarget);
});
