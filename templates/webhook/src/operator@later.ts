import { Operator } from 'operator-builder';
// +operator-builder:if conversion
import { conversionWebhook } from 'operator-builder';
import { KindName } from './api/v98alpha98/kind-name.js';
// +operator-builder:end
// +operator-builder:if admission
import { kindNameV99alpha99Webhooks } from './webhooks/v99alpha99/kind-name-webhook@later.js';
// +operator-builder:end
// +operator-builder:scaffold:imports

/** The operator: its kinds, webhooks and controllers. The commands of operator-builder load it. */
export const operator = new Operator('operator-name', {
  resources: [
    // +operator-builder:scaffold:resources
  ],
  webhooks: [
    // +operator-builder:if conversion
    conversionWebhook(KindName),
    // +operator-builder:end
    // +operator-builder:if admission
    ...kindNameV99alpha99Webhooks,
    // +operator-builder:end
    // +operator-builder:scaffold:webhooks
  ],
});

// +operator-builder:scaffold:setup
