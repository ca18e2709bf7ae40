import { OperatorError } from '../system/operator-error.js';
import type { Client, WriteOptions } from './client.js';
import { forwarding } from './forwarding.js';

/** The API server's limit. */
const longestName = 128;

/**
 * Wraps a Client so that writes without a field manager use `fieldManager`.
 * @throws OperatorError `InvalidOption`: the name is empty or longer than 128 characters.
 */
export function withFieldManager(client: Client, fieldManager: string): Client {
  if (fieldManager === '' || fieldManager.length > longestName) {
    const got = `got ${fieldManager.length}`;
    const message = `fieldManager: want 1 to ${longestName} characters, ${got}`;
    throw new OperatorError('InvalidOption', message);
  }
  const managed = <Options extends WriteOptions>(options?: Options) => ({
    ...options,
    fieldManager: options?.fieldManager ?? fieldManager,
  });
  return {
    ...forwarding(client),
    create: (object, options) => client.create(object, managed(options)),
    update: (object, options) => client.update(object, managed(options)),
    patch: (type, key, patch, options) => client.patch(type, key, patch, managed(options)),
    apply: (object, options) => client.apply(object, managed(options)),
  };
}
