import { groupSuite } from '../declarative/operator/group-suite.js';
import { operatorCrdSuite } from '../declarative/crd/operator-crd-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('declarative operators on a real API server', () => {
  describe('a group of operators', () => {
    groupSuite(clusterTarget);
  });

  describe('Operator objects', () => {
    operatorCrdSuite(clusterTarget);
  });
});
