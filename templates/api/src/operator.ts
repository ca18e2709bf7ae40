import { Operator } from 'operator-builder';
// +operator-builder:if resource
import { KindName } from './api/v99alpha99/kind-name.js';
// +operator-builder:end
// +operator-builder:if controller
import { setupKindNameController } from './controllers/kind-name-controller@builder.js';
// +operator-builder:end
// +operator-builder:scaffold:imports

/** The operator: its kinds, webhooks and controllers. The commands of operator-builder load it. */
export const operator = new Operator('operator-name', {
  resources: [
    // +operator-builder:if resource
    KindName,
    // +operator-builder:end
    // +operator-builder:scaffold:resources
  ],
  webhooks: [
    // +operator-builder:scaffold:webhooks
  ],
});

// +operator-builder:if controller
setupKindNameController(operator);
// +operator-builder:end
// +operator-builder:scaffold:setup
