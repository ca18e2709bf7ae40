import { Operator } from 'operator-builder';
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

// +operator-builder:scaffold:setup
