import type { OperatorDefinition } from 'operator-builder';
// +operator-builder:if admission
import { kindNameV98alpha98Webhooks } from './webhooks/v98alpha98/kind-name-webhook@foreign.js';
// +operator-builder:end
// +operator-builder:scaffold:imports

/** What the operator is made of. The commands of operator-builder read it, too. */
export const operator: OperatorDefinition = {
  name: 'operator-name',
  resources: [
    // +operator-builder:scaffold:resources
  ],
  webhooks: [
    // +operator-builder:if admission
    ...kindNameV98alpha98Webhooks,
    // +operator-builder:end
    // +operator-builder:scaffold:webhooks
  ],
  setup(manager) {
    // +operator-builder:scaffold:setup
  },
};
