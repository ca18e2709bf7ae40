import type { Client } from './client.js';

/** Returns a Client that forwards every call to `client`: the base of wrappers, which override some calls. */
export function forwarding(client: Client): Client {
  return {
    get: (type, key, options) => client.get(type, key, options),
    list: (type, options) => client.list(type, options),
    pages: (type, options) => client.pages(type, options),
    watch: (type, options) => client.watch(type, options),
    stream: (type, key, options) => client.stream(type, key, options),
    create: (object, options) => client.create(object, options),
    update: (object, options) => client.update(object, options),
    patch: (type, key, patch, options) => client.patch(type, key, patch, options),
    apply: (object, options) => client.apply(object, options),
    delete: (type, key, options) => client.delete(type, key, options),
    deleteCollection: (type, options) => client.deleteCollection(type, options),
    resourceType: (type) => client.resourceType(type),
  };
}
