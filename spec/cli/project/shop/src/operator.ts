import type { OperatorDefinition } from 'operator-builder';
import { shopController } from './controllers/shop-controller.js';
import { Shop } from './shop.js';

export const operator: OperatorDefinition = {
  name: 'shops',
  resources: [Shop],
  setup: (manager) => void manager.add(shopController()),
};
