import type { Client, KubernetesObject, ResourceType, WatchEvent } from '../lib/index.js';
import { ratioOf, rowOf } from './bench-result.js';
import type { BenchResult } from './bench-result.js';
import type { DeclarativeManager } from '../lib/declarative/index.js';
import { DeclarativeManager as Manager, DeclarativeOperator } from './built-declarative.js';

const sizes = [1_000, 10_000] as const;
const groupSizes = [1_000, 10_000, 50_000] as const;
const rounds = 3;
const writesARound = 1_000;
/** Changes that are sent at once. */
const burst = 100;

const group = 'bench.view.dcontroller.io';
const apiVersion = `${group}/v1alpha1`;

/** A pipeline that writes a view for each ConfigMap. */
const eachInView = {
  '@project': {
    metadata: { name: '$.metadata.name', namespace: '$.metadata.namespace' },
    spec: { app: '$.metadata.labels.app', at: '$.data.at', key: '$.data.key' },
    status: { phase: 'Known' },
  },
};

/** A pipeline that writes one view, with a list of a value from every ConfigMap. */
const allInOne = [
  { '@project': { metadata: { name: 'all', namespace: 'bench' }, at: '$.data.at' } },
  { '@gather': ['$.metadata.namespace', '$.at'] },
];

/**
 * Measures the CPU time from an event of a ConfigMap, through a pipeline, to the written view and its watcher.
 * The peer is a client that writes the same view by server-side apply. Then measures one view that lists a value
 * of every ConfigMap.
 */
export async function benchViews(): Promise<BenchResult[]> {
  const single = await measured(sizes, [eachInView]);
  const gathered = await measured(groupSizes, allInOne);
  const applied = await appliedCosts();
  const [few = []] = single;
  const [small = [], , large = []] = gathered;
  return [
    {
      name: 'a view written end to end: event, pipeline, view, watcher',
      unit: 'µs of CPU a write',
      rows: [
        ...sizes.map((size, at) => rowOf(`${size} views`, single[at] ?? [])),
        rowOf('by server-side apply alone', applied),
      ],
      ratio: ratioOf('server-side apply to all of it', applied, few),
    },
    {
      name: 'a change of one member of a gathered view, end to end',
      unit: 'µs of CPU a change',
      rows: groupSizes.map((size, at) => rowOf(`${size} members`, gathered[at] ?? [])),
      ratio: ratioOf(`${groupSizes[2]} members to ${groupSizes[0]}`, large, small),
    },
  ];
}

async function measured(all: readonly number[], pipeline: unknown): Promise<number[][]> {
  const costs: number[][] = [];
  for (const size of all) {
    const run = await ViewRun.start(size, pipeline);
    await run.microsecondsAWrite();
    const rounded: number[] = [];
    for (let round = 0; round < rounds; round++) rounded.push(await run.microsecondsAWrite());
    costs.push(rounded);
    await run.end();
  }
  return costs;
}

/** An operator with one controller, its source and a watcher of its views. */
class ViewRun {
  readonly #feed: Feed;
  readonly #manager: DeclarativeManager;
  readonly #end = new AbortController();
  readonly #running: Promise<void>;
  readonly #isOne: boolean;
  #seen = 0;
  #onSeen = (): void => undefined;
  #last: unknown;
  #next = 0;

  private constructor(feed: Feed, manager: DeclarativeManager, pipeline: unknown) {
    this.#feed = feed;
    this.#manager = manager;
    this.#isOne = pipeline === allInOne;
    const sources = [{ apiGroup: '', version: 'v1', kind: 'ConfigMap' }];
    const controller = { name: 'made', sources, pipeline, target: { kind: 'Made' } };
    const operator = DeclarativeOperator.create('bench', manager, {
      controllers: [controller],
    } as never);
    this.#running = operator.start(this.#end.signal);
    this.whenSynced = operator.whenSynced();
  }

  readonly whenSynced: Promise<void>;

  get manager(): DeclarativeManager {
    return this.#manager;
  }

  static async start(size: number, pipeline: unknown): Promise<ViewRun> {
    const feed = new Feed(size);
    const manager = await Manager.create({ client: feed.client });
    const run = new ViewRun(feed, manager, pipeline);
    await run.whenSynced;
    await manager.views.ensure('bench', 'Made');
    void run.#watch();
    return run;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#end;
    const events = this.#manager.views.client.watch<KubernetesObject>(
      { apiVersion, kind: 'Made' },
      { signal },
    );
    try {
      for await (const event of events) {
        // Skips the existing views at the start of the watch.
        if (event.type !== 'MODIFIED') continue;
        this.#seen++;
        this.#last = event.object;
        this.#onSeen();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async microsecondsAWrite(): Promise<number> {
    const writes = this.#isOne ? writesARound / 5 : writesARound;
    const started = process.cpuUsage();
    for (let written = 0; written < writes;) {
      const together = this.#isOne ? 1 : burst;
      const wanted = this.#seen + together;
      // Waits for a callback: polling would count as CPU time.
      await new Promise<void>((resolve) => {
        this.#onSeen = () => {
          if (this.#seen >= wanted) resolve();
        };
        this.#feed.change(this.#next, together);
      });
      this.#next += together;
      written += together;
    }
    const { user, system } = process.cpuUsage(started);
    if (this.#last === undefined) throw new Error('no view was seen');
    return (user + system) / writes;
  }

  async end(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }
}

/** A client of a simulated cluster of ConfigMaps with negligible cost: it passes changes directly to the watch. */
class Feed {
  readonly client: Client;
  readonly #objects: KubernetesObject[];
  readonly #queue: WatchEvent<KubernetesObject>[] = [];
  #wake = (): void => undefined;
  #version = 1_000;

  constructor(size: number) {
    this.#objects = Array.from({ length: size }, (_, n) => this.#object(n));
    const type: ResourceType = {
      ...{ group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
    };
    const refused = (): Promise<never> => Promise.reject(new Error('the feed is read only'));
    const only = {
      resourceType: () => Promise.resolve(type),
      list: () => Promise.resolve(this.#list()),
      watch: (_type: unknown, { signal }: { readonly signal: AbortSignal }) => this.#watch(signal),
      create: (object: KubernetesObject) =>
        Promise.resolve({ ...object, status: { allowed: true } }),
      pages: () => [this.#list()],
    };
    const rest = { get: refused, update: refused, patch: refused, apply: refused };
    this.client = { ...rest, delete: refused, deleteCollection: refused, ...only } as never;
  }

  change(first: number, count: number): void {
    for (let n = first; n < first + count; n++) {
      // A prime step spreads the changes over all objects, without a repetition in a burst.
      const at = (n * 7_919) % this.#objects.length;
      const object = this.#object(at);
      this.#objects[at] = object;
      this.#queue.push({ type: 'MODIFIED', object });
    }
    this.#wake();
  }

  #list() {
    const metadata = { resourceVersion: String(this.#version) };
    return { apiVersion: 'v1', kind: 'ConfigMapList', metadata, items: this.#objects };
  }

  async *#watch(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.#wake());
    yield* this.#objects.map((object) => ({ type: 'ADDED' as const, object }));
    const resourceVersion = String(this.#version);
    yield { type: 'BOOKMARK' as const, resourceVersion, initialEventsEnd: true };
    while (!signal.aborted) {
      yield* this.#queue.splice(0);
      if (this.#queue.length > 0) continue;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        // The signal may have aborted while the events were consumed.
        if (signal.aborted) resolve();
      });
    }
  }

  #object(n: number): KubernetesObject {
    const uid = `0048f18e-bd83-44fc-837e-${String(n).padStart(12, '0')}`;
    const labels = { app: `app-${n % 100}`, 'app.kubernetes.io/managed-by': 'bench' };
    const resourceVersion = String(++this.#version);
    const metadata = { name: `c-${n}`, namespace: 'bench', uid, labels, resourceVersion };
    const data = { key: 'x'.repeat(100), at: `${n % 97}-${this.#version}` };
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } as KubernetesObject;
  }
}

/** Measures the CPU time of a client that writes the same views by server-side apply. */
async function appliedCosts(): Promise<number[]> {
  const manager = await Manager.create({ client: new Feed(1).client });
  const { client } = manager.views;
  const costs: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const started = process.cpuUsage();
    for (let n = 0; n < writesARound; n++) {
      const spec = { app: `app-${n % 100}`, at: `${n}-${round}`, key: 'x'.repeat(100) };
      const metadata = { name: `c-${n}`, namespace: 'bench' };
      const view = { apiVersion, kind: 'Made', metadata, spec, status: { phase: 'Known' } };
      await client.apply(view, { fieldManager: 'bench', force: true });
    }
    const { user, system } = process.cpuUsage(started);
    if (round >= 0) costs.push((user + system) / writesARound);
  }
  await manager.stop();
  return costs;
}
