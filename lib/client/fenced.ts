import { describeObject } from '../object/describe-object.js';
import { keyString } from '../object/object-key.js';
import type { Client } from './client.js';
import type { Fence } from './fence.js';
import { forwarding } from './forwarding.js';

/**
 * A Client whose writes `fence` must allow, up to the moment at which they are sent, again and again:
 * before they wait for anything, and right before the first byte of each attempt goes into a
 * connection. A dry run stores nothing, and is asked about all the same. Fences of several wrappers
 * must all allow it.
 * @throws OperatorError `Fenced` by each write that may not start: nothing was sent.
 * @throws OperatorError `Aborted` by a write under way when the fence is lost: it may have been done.
 */
export function fenced(client: Client, fence: Fence): Client {
  const within = <Options extends { readonly fences?: readonly Fence[] | undefined }>(
    what: string,
    options: Options | undefined,
  ): Options => {
    const term = fence.term?.() ?? fence;
    // Here too: a Client that sends nothing itself (a fake, a recorder) may not know of fences.
    term.check(what);
    return { ...(options as Options), fences: [...(options?.fences ?? []), term] };
  };
  return {
    ...forwarding(client),
    create: async (object, options) =>
      client.create(object, within(`create ${describeObject(object)}`, options)),
    update: async (object, options) =>
      client.update(object, within(`update ${describeObject(object)}`, options)),
    patch: async (type, key, patch, options) =>
      client.patch(type, key, patch, within(`patch ${type.kind} ${keyString(key)}`, options)),
    apply: async (object, options) =>
      client.apply(object, within(`apply ${describeObject(object)}`, options)),
    delete: async (type, key, options) =>
      client.delete(type, key, within(`delete ${type.kind} ${keyString(key)}`, options)),
    deleteCollection: async (type, options) =>
      client.deleteCollection(type, within(`deletecollection ${type.kind}`, options)),
  };
}
