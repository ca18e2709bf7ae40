import { storeOperator } from '../../store-operator.js';

export const operator = storeOperator();
