import { operatorFeedSuite } from '../operator/suite/feed-suite.js';
import { operatorSuite } from '../operator/suite/operator-suite.js';
import { operatorRacesSuite } from '../operator/suite/races-suite.js';
import { operatorReplicasSuite } from '../operator/suite/replicas-suite.js';
import { readmeSuite } from '../operator/suite/readme-suite.js';
import { operatorStylesSuite } from '../operator/suite/styles-suite.js';
import { operatorTroubleSuite } from '../operator/suite/trouble-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('Operator on a real API server', () => operatorSuite(clusterTarget));

describe('failures that an Operator has to survive, on a real API server', () => {
  operatorTroubleSuite(clusterTarget);
});

describe('changes while an Operator reconciles, on a real API server', () => {
  operatorRacesSuite(clusterTarget);
});

describe('several processes of one Operator on a real API server', () => {
  operatorReplicasSuite(clusterTarget);
});

describe('styles of an Operator on a real API server', () => {
  operatorStylesSuite(clusterTarget);
});

describe("the README's example on a real API server", () => readmeSuite(clusterTarget));

describe('the printed output of an Operator on a real API server', () =>
  operatorFeedSuite(clusterTarget));
