import { expect } from 'chai';
import { Cache } from '../../lib/cache/index.js';
import type { Informer } from '../../lib/cache/index.js';
import { anonymous, bearerToken, createClient } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { withoutMember } from '../../lib/object/json.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import { sleep, systemClock } from '../../lib/system/clock.js';
import { noMetrics } from '../../lib/system/metrics.js';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import { EventMirror } from './event-mirror.js';
import { fastClock } from './fast-clock.js';
import { FaultProxy } from './fault-proxy.js';
import type { FaultTarget } from './fault-target.js';

/** Generous, because the machine may be busy. */
const patienceMs = 20_000;
const factor = 300;

/** A cache of the ConfigMaps in a new namespace, behind a {@link FaultProxy}. */
export class CacheSetup {
  readonly target: FaultTarget;
  readonly namespace: string;
  readonly proxy: FaultProxy;
  readonly mirror = new EventMirror();
  readonly informer: Informer<ConfigMap>;
  /** The number of lists, including the first. */
  relists = 0;
  readonly #client: ConnectedClient;
  readonly #cache: Cache;

  private constructor(
    target: FaultTarget,
    namespace: string,
    proxy: FaultProxy,
    streaming: boolean,
  ) {
    this.target = target;
    this.namespace = namespace;
    this.proxy = proxy;
    const clock = fastClock(factor);
    this.#client = createClient({
      transport: new UndiciTransport({ server: proxy.url }),
      credentials: target.token === undefined ? anonymous : bearerToken(target.token),
      clock,
      // A second of real time.
      requestTimeoutMs: 1_000 * factor,
    });
    const relisted = (name: string, value: number): void => {
      if (name.endsWith('_relists_total')) this.relists += value;
    };
    const metrics = {
      ...noMetrics,
      counter: ({ name }: { readonly name: string }) => ({
        add: (value = 1) => relisted(name, value),
      }),
    };
    this.#cache = new Cache({
      ...{ client: this.#client, clock, metrics, streamingLists: streaming },
      namespaces: [namespace],
    });
    this.informer = this.#cache.informer(ConfigMap);
    this.informer.addHandler(this.mirror.take);
  }

  /** Starts a cache on a namespace with the three objects `a`, `b` and `c`. */
  static async start(target: FaultTarget, streaming: boolean): Promise<CacheSetup> {
    const namespace = await target.namespace();
    const proxy = await FaultProxy.start(target.openUpstream);
    const setup = new CacheSetup(target, namespace, proxy, streaming);
    for (const name of ['a', 'b', 'c']) await setup.put(name);
    setup.#cache.start();
    await setup.followed();
    return setup;
  }

  /** The resource version that the cache has reached, by an event or a bookmark. */
  get progress(): string | undefined {
    return this.#cache.peek(ConfigMap)?.progress(this.namespace);
  }

  async stop(): Promise<void> {
    await this.#cache.stop();
    await this.#client.close();
    await this.proxy.close();
  }

  async put(name: string): Promise<void> {
    const metadata = { name, namespace: this.namespace };
    const data = { at: String(systemClock.monotonicMs()) };
    await this.target.admin.apply<ConfigMap>(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
      { fieldManager: 'spec', force: true },
    );
  }

  async remove(name: string): Promise<void> {
    await this.target.admin.delete(ConfigMap, { namespace: this.namespace, name });
  }

  /** Makes changes of every kind: updates, creations, deletions and a recreation. */
  async churn(): Promise<void> {
    await this.put('a');
    await this.put('a');
    await this.remove('b');
    await this.put('b');
    await this.put(`new-${this.mirror.events.length}`);
    await this.remove('c');
    await this.put('c');
  }

  /** Waits until the cache equals the server and watches again, then compares every object and event. */
  async followed(): Promise<void> {
    await this.until(async () => {
      const live = await this.#live();
      const { problem } = this.informer.status();
      // The watch that ends with a fault may still be open.
      const isWell = this.proxy.watches > 0 && problem === undefined;
      return isWell && same(this.informer.list(), live);
    });
    const live = await this.#live();
    const byName = (objects: readonly KubernetesObject[]): ReadonlyMap<unknown, KubernetesObject> =>
      new Map(objects.map((object) => [object.metadata.name, object]));
    expect(byName(this.informer.list())).to.deep.equal(byName(live));
    this.mirror.verify(live);
    expect(this.informer.status()).to.deep.include({ synced: true, problem: undefined });
  }

  /** Waits until `condition` holds. */
  async until(condition: () => boolean | Promise<boolean>): Promise<void> {
    const startMs = systemClock.monotonicMs();
    while (!(await condition())) {
      if (systemClock.monotonicMs() - startMs > patienceMs) throw new Error(this.#describe());
      await sleep(systemClock, 5);
    }
  }

  async #live(): Promise<readonly ConfigMap[]> {
    const { items } = await this.target.admin.list(ConfigMap, { namespace: this.namespace });
    // The cache drops the managed fields.
    return items.map(({ metadata, ...rest }) => ({
      ...rest,
      metadata: withoutMember({ ...metadata }, 'managedFields'),
    }));
  }

  #describe(): string {
    const { problem } = this.informer.status();
    const shown = this.informer.list().map(({ metadata }) => metadata.name);
    return `not in time: ${String(problem)}; ${this.proxy.watches} watches; ${shown.join()}`;
  }
}

function same(one: readonly KubernetesObject[], other: readonly KubernetesObject[]): boolean {
  const versions = (objects: readonly KubernetesObject[]): string =>
    objects
      .map(({ metadata: { uid = '', resourceVersion = '' } }) => `${uid}@${resourceVersion}`)
      .sort()
      .join();
  return versions(one) === versions(other);
}
