import { Cache } from '../../lib/cache/cache.js';
import { cachedType } from '../../lib/cache/cache-options.js';
import type { CachedType } from '../../lib/cache/cache-options.js';
import { cachedClient } from '../../lib/cache/cached-client.js';
import type { Client } from '../../lib/client/client.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { FakeServer, Thing } from './fake-server.js';

export const a = { namespace: 'ns', name: 'a' };

export class Setup {
  readonly clock = new VirtualClock();
  readonly server = new FakeServer();
  readonly cache: Cache;
  readonly client: Client;

  constructor(type: Partial<CachedType<Thing>> = {}) {
    const client = this.server.client();
    const types = [cachedType({ ...type, type: Thing })];
    this.cache = new Cache({ client, clock: this.clock, types });
    this.client = cachedClient(client, this.cache, { clock: this.clock });
  }

  /** Fills the cache and clears the recorded requests. */
  async sync(): Promise<void> {
    this.cache.informer(Thing);
    this.cache.start();
    await this.clock.advance(0);
    this.server.requests.length = 0;
  }

  /** Returns the result or error of a call while time advances. */
  async settle<T>(call: Promise<T>, ms = 0): Promise<T | 'pending'> {
    const none = this.clock.advance(ms).then(() => 'pending' as const);
    return Promise.race([call, none]);
  }

  async names(options: Parameters<Client['list']>[1] = {}): Promise<string[]> {
    const { items } = await this.client.list(Thing, options);
    return items.map(({ metadata }) => metadata.name ?? '');
  }

  verbs(): string[] {
    return this.server.requests.map(({ verb }) => verb);
  }
}

export async function failure(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}
