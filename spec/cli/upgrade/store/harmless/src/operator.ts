import { storeOperator } from '../../store-operator.js';

/** A label on what no pod refers to. */
export const operator = storeOperator({ extraLabel: 'new' });
