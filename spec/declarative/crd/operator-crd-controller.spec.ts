import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { operatorCrdSuite } from './operator-crd-suite.js';

describe('Operator objects', () => {
  operatorCrdSuite(embeddedTarget);
});
