import { forwarding } from '../../lib/client/client-wrappers.js';
import type { Client, Fence } from '../../lib/client/index.js';
import { deferred } from '../controller/deferred.js';

interface WriteCall {
  readonly dryRun?: boolean | undefined;
  readonly fences?: readonly Fence[] | undefined;
}

type HeldVerb = 'create' | 'update' | 'patch' | 'apply' | 'delete';

/**
 * Client that holds its first write of a verb, like a process paused between its last fence check
 * and the system call that sends. The fence is not checked again when the write is released.
 */
export class HeldWrites {
  readonly client: Client;
  readonly #verb: HeldVerb;
  readonly #held = deferred();
  readonly #go = deferred();
  #isDone = false;

  constructor(client: Client, verb: HeldVerb) {
    this.#verb = verb;
    this.client = {
      ...forwarding(client),
      create: async (object, options) => client.create(object, await this.#stop('create', options)),
      update: async (object, options) => client.update(object, await this.#stop('update', options)),
      patch: async (type, key, patch, options) =>
        client.patch(type, key, patch, await this.#stop('patch', options)),
      apply: async (object, options) => client.apply(object, await this.#stop('apply', options)),
      delete: async (type, key, options) =>
        client.delete(type, key, await this.#stop('delete', options)),
    };
  }

  /** Resolves when the write is held. */
  get whenHeld(): Promise<unknown> {
    return this.#held.promise;
  }

  /** Sends the held write. */
  letGo(): void {
    this.#go.resolve();
  }

  async #stop<Options extends WriteCall>(
    verb: HeldVerb,
    options: Options | undefined,
  ): Promise<Options> {
    const { fences = [], dryRun = false, ...rest } = options ?? {};
    if (this.#isDone || dryRun || verb !== this.#verb) return options as Options;
    for (const fence of fences) fence.check(verb);
    this.#isDone = true;
    this.#held.resolve();
    await this.#go.promise;
    return rest as Options;
  }
}
