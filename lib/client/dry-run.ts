import type { Client } from './client.js';
import { forwarding } from './forwarding.js';

/** Wraps a Client so that the server validates, defaults and answers its writes, but does not store them. */
export function dryRun(client: Client): Client {
  const dry = <Options>(options: Options): Options & { dryRun: true } => ({
    ...options,
    dryRun: true,
  });
  return {
    ...forwarding(client),
    create: (object, options) => client.create(object, dry(options)),
    update: (object, options) => client.update(object, dry(options)),
    patch: (type, key, patch, options) => client.patch(type, key, patch, dry(options)),
    apply: (object, options) => client.apply(object, dry(options)),
    delete: (type, key, options) => client.delete(type, key, dry(options)),
    deleteCollection: (type, options) => client.deleteCollection(type, dry(options)),
  };
}
