import { expect } from 'chai';
import { Cache } from '../../lib/cache/cache.js';
import type { CacheOptions } from '../../lib/cache/cache-options.js';
import type { CacheEvent, Informer } from '../../lib/cache/informer.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import type { Logger } from '../../lib/system/logger.js';
import { seededRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { FakeServer, Thing } from './fake-server.js';

/** Mirrors the events and checks that each is valid after those before it. */
export class Mirror {
  readonly objects = new Map<string, Thing>();
  readonly seen: string[] = [];

  readonly take = (event: CacheEvent<Thing>): void => {
    const { name = '', uid, resourceVersion } = event.object.metadata;
    this.seen.push(`${event.type} ${name}`);
    const known = this.objects.get(name);
    switch (event.type) {
      case 'added':
        expect(known, `added ${name} twice`).to.equal(undefined);
        this.objects.set(name, event.object);
        return;
      case 'updated':
        // Only the versions are equal: a later list may have parsed the object again.
        expect(version(event.old), `old of ${name}`).to.equal(known && version(known));
        expect(event.old.metadata.uid).to.equal(uid);
        expect(event.old.metadata.resourceVersion).to.not.equal(resourceVersion);
        this.objects.set(name, event.object);
        return;
      case 'deleted':
        expect(known?.metadata.uid, `deleted ${name}`).to.equal(uid);
        this.objects.delete(name);
    }
  };
}

export class Setup {
  readonly clock = new VirtualClock();
  readonly server: FakeServer;
  readonly cache: Cache;
  readonly informer: Informer<Thing>;
  readonly mirror = new Mirror();
  readonly logged: string[] = [];
  readonly thrown: unknown[] = [];

  constructor(server = new FakeServer(), options: Partial<CacheOptions> = {}) {
    this.server = server;
    this.cache = new Cache({
      client: server.client(),
      clock: this.clock,
      random: seededRandom(7),
      logger: this.#logger(),
      ...options,
    });
    this.informer = this.cache.informer(Thing);
    this.informer.addHandler(this.mirror.take);
    this.cache.start();
  }

  /** Advances past every back-off so that the cache can catch up. */
  async settle(ms = 200_000): Promise<void> {
    await this.clock.advance(ms);
  }

  /** Expects the cache, its events and the server to agree. */
  verify(): void {
    const names = (objects: Iterable<Thing>): string[] =>
      [...objects].map((object) => `${object.metadata.name ?? ''} ${version(object)}`).sort();
    expect(names(this.informer.list())).to.deep.equal(names(this.server.objects()));
    expect(names(this.mirror.objects.values())).to.deep.equal(names(this.server.objects()));
    expect(this.thrown).to.deep.equal([]);
  }

  #logger(): Logger {
    const note = (message: string): void => void this.logged.push(message);
    const logger: Logger = {
      debug: () => undefined,
      info: note,
      warn: note,
      error: (_, fields = {}) => void this.thrown.push(fields['error']),
      child: () => logger,
    };
    return logger;
  }
}

export function version(object: Thing): string {
  const { uid = '', resourceVersion = '' } = object.metadata;
  return `${uid}@${resourceVersion}`;
}

export const reset = new OperatorError('ConnectionFailed', 'reset');

/** Returns a cache whose first watch had a bookmark and broke off; the second one is open and silent. */
export async function watchingAgain(): Promise<Setup> {
  const setup = new Setup();
  await setup.settle(5_000);
  setup.server.bookmark();
  await setup.settle(10_000);
  setup.server.disconnect(reset);
  return setup;
}
