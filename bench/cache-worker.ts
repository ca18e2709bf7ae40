// Measures one informer: `cache-worker.ts <ours|theirs> <namespace> <objects> [handler|reconcile]
// [warm-up events] [ConfigMap|Pod]`, with the kubeconfig in BENCH_KUBECONFIG. Prints the cost of the initial
// list. A line on stdin makes it handle watch events; it then prints their number, latencies and cost.
import { createInterface } from 'node:readline';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import type { KubernetesObject, TypeReference } from '../lib/object/index.js';
import { Cache, ConfigMap, Pod, clientFromKubeConfig, controllerFor, done } from './built.js';

/** Called with the name of each changed object, and the time of the write that the object contains. */
type OnChange = (name: string | undefined, writtenAt: string | undefined) => void;

interface Followed {
  /** Returns the number of cached objects. */
  readonly size: () => number;
  /**
   * Prepares for changes. The informer then calls `arrived` for each event; the reconciler or the handler
   * calls `handled` for an object.
   */
  readonly begin: (arrived: OnChange, handled: (name: string | undefined) => void) => Promise<void>;
}

/** Starts a prepared informer: its code is loaded, and its connections are open. */
type Start = () => Promise<Followed>;

const [
  side = '',
  namespace = '',
  objects = '0',
  end = 'handler',
  warmUp = '0',
  kind = 'ConfigMap',
] = process.argv.slice(2);
const type: TypeReference<Readable & KubernetesObject> = kind === 'Pod' ? Pod : ConfigMap;

/** Returns the time of the write, which is in an annotation of a Pod and in the data of a ConfigMap. */
function writtenAtOf({ metadata, data }: Readable): string | undefined {
  return kind === 'Pod' ? metadata?.annotations?.['at'] : data?.['at'];
}

interface Readable {
  readonly metadata?: {
    readonly name?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
}
const text = process.env['BENCH_KUBECONFIG'] ?? '';

async function prepareOurs(): Promise<Start> {
  const client = await clientFromKubeConfig({ text });
  for await (const { items } of client.pages(type, { namespace, limit: 1 })) {
    if (items.length > 0) break;
  }
  return async () => {
    const cache = new Cache({ client, namespaces: [namespace] });
    const informer = cache.informer(type);
    cache.start();
    await informer.waitForSync();
    const begin: Followed['begin'] = async (arrived, handled) => {
      let reconciles = 0;
      informer.addHandler(({ type, object }) => {
        if (type !== 'updated') return;
        arrived(object.metadata.name, writtenAtOf(object));
        if (end === 'handler') handled(object.metadata.name);
      });
      if (end === 'handler') return;
      controllerFor(type)
        .withOptions({ maxConcurrentReconciles: 4 })
        .complete(async ({ key }) => {
          reconciles++;
          handled(informer.get(key)?.metadata.name);
          return done();
        })
        .start({ cache, client });
      // Waits for the reconciles of the existing objects.
      await until(() => reconciles >= Number(objects));
    };
    return { size: () => informer.status().objects, begin };
  };
}

async function prepareTheirs(): Promise<Start> {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(text);
  const api = kubeConfig.makeApiClient(CoreV1Api);
  const list = (options: { readonly limit?: number } = {}) =>
    kind === 'Pod'
      ? api.listNamespacedPod({ namespace, ...options })
      : api.listNamespacedConfigMap({ namespace, ...options });
  await list({ limit: 1 });
  return async () => {
    const path = `/api/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
    const informer = makeInformer<Readable>(kubeConfig, path, () => list());
    await informer.start();
    const begin: Followed['begin'] = async (arrived, handled) => {
      informer.on('update', (object) => {
        arrived(object.metadata?.name, writtenAtOf(object));
        handled(object.metadata?.name);
      });
    };
    return { size: () => informer.list(namespace).length, begin };
  };
}

function heap(): number {
  // Collects garbage twice: the second run collects objects that finalizers released in the first.
  for (let n = 0; n < 2; n++) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function cpuSeconds(since: NodeJS.CpuUsage | undefined): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
}

/** Measures the handling of events, until none arrives for 1.5 s. */
async function follow(followed: Followed): Promise<object> {
  const latenciesMs: number[] = [];
  const firstUnhandled = new Map<string, bigint>();
  let [arrivals, startMs, lastMs] = [0, 0, 0];
  const measured: { since?: NodeJS.CpuUsage } = {};
  const arrived: OnChange = (name = '', at = '0') => {
    if (arrivals++ === Number(warmUp)) {
      measured.since = process.cpuUsage();
      startMs = performance.now();
    }
    if (!firstUnhandled.has(name)) firstUnhandled.set(name, BigInt(at));
  };
  await followed.begin(arrived, (name = '') => {
    const at = firstUnhandled.get(name);
    if (at === undefined) return;
    // One reconcile handles all earlier events of an object; its latency counts from the first of them.
    firstUnhandled.delete(name);
    if (measured.since === undefined) return;
    latenciesMs.push(Number(process.hrtime.bigint() - at) / 1e6);
    lastMs = performance.now();
  });
  arrivals = 0;
  delete measured.since;
  process.stdout.write('{"ready":true}\n');
  await until(() => measured.since !== undefined);
  for (let seen = -1; seen !== arrivals;) {
    seen = arrivals;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  }
  const spent = cpuSeconds(measured.since);
  const events = arrivals - Number(warmUp);
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number): number => latenciesMs[Math.floor(latenciesMs.length * share)] ?? NaN;
  return {
    events,
    handled: latenciesMs.length,
    perSecond: events / ((lastMs - startMs) / 1_000),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuSeconds: spent,
  };
}

const start = await (side === 'ours' ? prepareOurs() : prepareTheirs());
const [heapBefore, startMs, cpu] = [heap(), performance.now(), process.cpuUsage()];
const followed = await start();
await until(() => followed.size() >= Number(objects));
const ms = performance.now() - startMs;
const filled = {
  perSecond: Number(objects) / (ms / 1_000),
  cpuSeconds: cpuSeconds(cpu),
  // The growth of the heap, including everything that the initial list left behind.
  bytesPerObject: (heap() - heapBefore) / Number(objects),
};
process.stdout.write(`${JSON.stringify(filled)}\n`);
const commands = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
if ((await commands.next()).done !== true) {
  process.stdout.write(`${JSON.stringify(await follow(followed))}\n`);
  await commands.next();
}
process.exit(0);
