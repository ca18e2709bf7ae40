import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { describeWebhooks } from './suite/webhooks-suite.js';

describe('webhooks on the embedded server', () => {
  describeWebhooks(embeddedTarget);
});
