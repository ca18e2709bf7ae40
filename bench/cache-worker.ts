// One informer in a process of its own: `cache-worker.ts <ours|theirs> <namespace> <objects>
// [handler|reconcile] [warm-up events] [ConfigMap|Pod]`, the kubeconfig in BENCH_KUBECONFIG. Prints what filling it
// cost; then, for a line on stdin, what following the events that come cost, and how late each was.
import { createInterface } from 'node:readline';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import type { KubernetesObject, TypeReference } from '../lib/object/index.js';
import { Cache, ConfigMap, Pod, clientFromKubeConfig, controllerFor, done } from './built.js';

/** Told of the name of each object that changed, and of the time that stands in it. */
type OnChange = (name: string | undefined, writtenAt: string | undefined) => void;

interface Followed {
  /** How many objects it has. */
  readonly size: () => number;
  /**
   * Gets ready to follow changes: `arrived` is called for each event, `handled` when a reconcile
   * or the handler deals with an object.
   */
  readonly begin: (arrived: OnChange, handled: (name: string | undefined) => void) => Promise<void>;
}

/** An informer that is ready to be started: code is loaded, connections are made. */
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

/** The time of the write stands in an annotation of a Pod, and in the data of a ConfigMap. */
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
      // First those that are there already.
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
  // Twice: what finalizers let go of goes the second time.
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

/** Measures the cost of following, until no event arrives for a while. */
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
    // One reconcile deals with all events of an object: it is as late as the first of them says.
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
  // Of all that filling it left behind.
  bytesPerObject: (heap() - heapBefore) / Number(objects),
};
process.stdout.write(`${JSON.stringify(filled)}\n`);
const commands = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
if ((await commands.next()).done !== true) {
  process.stdout.write(`${JSON.stringify(await follow(followed))}\n`);
  await commands.next();
}
process.exit(0);
