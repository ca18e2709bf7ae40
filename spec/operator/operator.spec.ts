import { embeddedTarget } from '../builder/suite/embedded-target.js';
import { operatorFeedSuite } from './suite/feed-suite.js';
import { operatorSuite } from './suite/operator-suite.js';
import { operatorRacesSuite } from './suite/races-suite.js';
import { operatorReplicasSuite } from './suite/replicas-suite.js';
import { readmeSuite } from './suite/readme-suite.js';
import { operatorStylesSuite } from './suite/styles-suite.js';
import { operatorTroubleSuite } from './suite/trouble-suite.js';

describe('Operator on the embedded server', () => operatorSuite(embeddedTarget));

describe('An Operator when requests or handlers fail, on the embedded server', () => {
  operatorTroubleSuite(embeddedTarget);
});

describe('An Operator whose objects change concurrently, on the embedded server', () => {
  operatorRacesSuite(embeddedTarget);
});

describe('Several processes of an Operator on the embedded server', () => {
  operatorReplicasSuite(embeddedTarget);
});

describe('The styles of an Operator on the embedded server', () => {
  operatorStylesSuite(embeddedTarget);
});

describe('The example of the README on the embedded server', () => readmeSuite(embeddedTarget));

describe('An Operator at a terminal on the embedded server', () =>
  operatorFeedSuite(embeddedTarget));
