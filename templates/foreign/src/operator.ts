import type { OperatorDefinition } from 'operator-builder';
import { setupKindNameController } from './controllers/kind-name-controller.js';
// +operator-builder:scaffold:imports

/** What the operator is made of. The commands of operator-builder read it, too. */
export const operator: OperatorDefinition = {
  name: 'operator-name',
  resources: [
    // +operator-builder:scaffold:resources
  ],
  webhooks: [
    // +operator-builder:scaffold:webhooks
  ],
  setup(manager) {
    setupKindNameController(manager);
    // +operator-builder:scaffold:setup
  },
};
