import { storeOperator } from '../../store-operator.js';

/** A new image, a new name of the settings, and a Service of the database that can't change. */
export const operator = storeOperator({
  image: 'store:2',
  settings: { name: 'config' },
  dbService: 'db-new',
});
