import { describeObject } from '../object/describe-object.js';
import { keyString } from '../object/object-key.js';
import type { Client } from './client.js';
import type { Fence } from './fence.js';
import { forwarding } from './forwarding.js';

/**
 * Wraps a Client so that `fence` must allow its writes. It is checked before the write waits for anything,
 * and right before each attempt writes its first byte to a connection. Dry runs are checked too. With several
 * wrappers, every fence must allow the write.
 * @throws OperatorError `Fenced` by each write that may not start: nothing was sent.
 * @throws OperatorError `Aborted` by a write under way when the fence is lost: the server may have carried it
 * out.
 */
export function fenced(client: Client, fence: Fence): Client {
  const within = <Options extends { readonly fences?: readonly Fence[] | undefined }>(
    what: string,
    options: Options | undefined,
  ): Options => {
    const term = fence.term?.() ?? fence;
    // Checked here too: a Client that sends nothing itself (a fake, a recorder) may ignore fences.
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
