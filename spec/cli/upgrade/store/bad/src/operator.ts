import { storeOperator } from '../../store-operator.js';

/** A version with a new image, renamed settings and an immutable field of the database changed. */
export const operator = storeOperator({
  image: 'store:2',
  settings: { name: 'config' },
  dbService: 'db-new',
});
