import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { describeKeptFields } from './suite/kept-fields-suite.js';
import { describeWebhooks } from './suite/webhooks-suite.js';

describe('Webhooks on the embedded server', () => {
  describeWebhooks(embeddedTarget);
});

describe('Fields that one version of a custom resource lacks, on the embedded server', () => {
  describeKeptFields(embeddedTarget);
});
