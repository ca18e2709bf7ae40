import { managerSuite } from '../manager/suite/manager-suite.js';
import { quarantineSuite } from '../manager/suite/quarantine-suite.js';
import { describeKeptFields } from '../manager/webhooks/suite/kept-fields-suite.js';
import { describeWebhooks } from '../manager/webhooks/suite/webhooks-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('Manager on a real API server', () => managerSuite(clusterTarget));

describe('quarantined objects on a real API server', () => quarantineSuite(clusterTarget));

describe('webhooks on a real API server', () => describeWebhooks(clusterTarget));

describe('fields that a version of a custom resource lacks, on a real API server', () =>
  describeKeptFields(clusterTarget));
