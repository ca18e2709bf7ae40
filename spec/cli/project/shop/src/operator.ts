import type { OperatorDefinition } from 'operator-builder';
import { shopController } from './controllers/shop-controller.js';
import { Shop } from './shop.js';

export const operator: OperatorDefinition = {
  name: 'shops',
  resources: [Shop],
  setup: (manager) => {
    // Required to add the finalizer.
    manager.add(shopController(), { requires: [{ type: Shop, verbs: ['patch'] }] });
  },
};
