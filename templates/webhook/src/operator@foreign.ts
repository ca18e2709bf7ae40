import { Operator } from 'operator-builder';
// +operator-builder:if admission
import { kindNameV98alpha98Webhooks } from './webhooks/v98alpha98/kind-name-webhook@foreign.js';
// +operator-builder:end
// +operator-builder:scaffold:imports

/** The operator: its kinds, webhooks and controllers. The commands of operator-builder load it. */
export const operator = new Operator('operator-name', {
  resources: [
    // +operator-builder:scaffold:resources
  ],
  webhooks: [
    // +operator-builder:if admission
    ...kindNameV98alpha98Webhooks,
    // +operator-builder:end
    // +operator-builder:scaffold:webhooks
  ],
});

// +operator-builder:scaffold:setup
