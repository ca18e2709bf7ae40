import { storeOperator } from '../../store-operator.js';

/** A version with a new label on an object that no pod refers to. */
export const operator = storeOperator({ extraLabel: 'new' });
