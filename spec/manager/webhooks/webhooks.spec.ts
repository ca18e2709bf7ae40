import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { describeWebhooks } from './suite/webhooks-suite.js';

describe('Webhooks on the embedded server', () => {
  describeWebhooks(embeddedTarget);
});
