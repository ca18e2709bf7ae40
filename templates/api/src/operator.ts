import type { OperatorDefinition } from 'operator-builder';
// +operator-builder:if resource
import { KindName } from './api/v99alpha99/kind-name.js';
// +operator-builder:end
// +operator-builder:if controller
import { setupKindNameController } from './controllers/kind-name-controller@builder.js';
// +operator-builder:end
// +operator-builder:scaffold:imports

/** What the operator is made of. The commands of operator-builder read it, too. */
export const operator: OperatorDefinition = {
  name: 'operator-name',
  resources: [
    // +operator-builder:if resource
    KindName,
    // +operator-builder:end
    // +operator-builder:scaffold:resources
  ],
  webhooks: [
    // +operator-builder:scaffold:webhooks
  ],
  setup(manager) {
    // +operator-builder:if controller
    setupKindNameController(manager);
    // +operator-builder:end
    // +operator-builder:scaffold:setup
  },
};
