import { Operator } from 'operator-builder';
import { setupKindNameController } from './controllers/kind-name-controller.js';
// +operator-builder:scaffold:imports

/** The operator: its kinds, webhooks and controllers. The commands of operator-builder load it. */
export const operator = new Operator('operator-name', {
  resources: [
    // +operator-builder:scaffold:resources
  ],
  webhooks: [
    // +operator-builder:scaffold:webhooks
  ],
});

setupKindNameController(operator);
// +operator-builder:scaffold:setup
