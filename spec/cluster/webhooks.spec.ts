import { describeWebhooks } from '../manager/webhooks/suite/webhooks-suite.js';
import { clusterTarget } from './cluster-target.js';

describe('webhooks on a real API server', () => {
  describeWebhooks(clusterTarget);
});
