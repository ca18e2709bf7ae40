// One informer in a process of its own: `cache-worker.ts <ours|theirs> <namespace> <objects>`, the
// kubeconfig in BENCH_KUBECONFIG. Prints what filling it cost; then, for a line `events N` on stdin,
// what following N events cost and how late each was.
import { createInterface } from 'node:readline';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { Cache } from '../lib/cache/index.js';
import { clientFromKubeConfig } from '../lib/client/index.js';
import { controllerFor, done } from '../lib/controller/index.js';
import { ConfigMap } from '../lib/object/kinds.js';

interface Followed {
  /** How many objects it has. */
  readonly size: () => number;
  /** Told of each change of an object by the time that stands in it. */
  onChange: (writtenAt: string | undefined) => void;
  /** Gets ready to be told of changes. */
  readonly begin: () => Promise<void>;
}

/** An informer that is ready to be started: code is loaded, connections are made. */
type Start = () => Promise<Followed>;

const [side = '', namespace = '', objects = '0'] = process.argv.slice(2);
const text = process.env['BENCH_KUBECONFIG'] ?? '';

async function prepareOurs(): Promise<Start> {
  const client = await clientFromKubeConfig({ text });
  for await (const { items } of client.pages(ConfigMap, { namespace, limit: 1 })) {
    if (items.length > 0) break;
  }
  return async () => {
    const cache = new Cache({ client, namespaces: [namespace] });
    const informer = cache.informer(ConfigMap);
    cache.start();
    await informer.waitForSync();
    const begin = async (): Promise<void> => {
      let first = 0;
      followed.onChange = () => {
        first++;
      };
      controllerFor(ConfigMap)
        .withOptions({ maxConcurrentReconciles: 4 })
        .complete(async ({ key }) => {
          followed.onChange(informer.get(key)?.data?.['at']);
          return done();
        })
        .start({ cache, client });
      await until(() => first >= Number(objects));
    };
    const size = (): number => informer.status().objects;
    const followed: Followed = { size, begin, onChange: () => undefined };
    return followed;
  };
}

async function prepareTheirs(): Promise<Start> {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(text);
  const api = kubeConfig.makeApiClient(CoreV1Api);
  await api.listNamespacedConfigMap({ namespace, limit: 1 });
  return async () => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const list = () => api.listNamespacedConfigMap({ namespace });
    const informer = makeInformer(kubeConfig, path, list);
    const followed: Followed = {
      size: () => informer.list(namespace).length,
      begin: async () => {
        informer.on('update', ({ data }) => followed.onChange(data?.['at']));
      },
      onChange: () => undefined,
    };
    await informer.start();
    return followed;
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

function cpuSeconds(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
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

for await (const line of createInterface({ input: process.stdin })) {
  const wanted = line;
  const latenciesMs: number[] = [];
  await followed.begin();
  const since = process.cpuUsage();
  followed.onChange = (at = '0') => {
    latenciesMs.push(Number(process.hrtime.bigint() - BigInt(at)) / 1e6);
  };
  process.stdout.write('{"ready":true}\n');
  // Several events of one key may be one reconcile: it is over when nothing comes any more.
  let seen = -1;
  while (latenciesMs.length === 0 || seen !== latenciesMs.length) {
    seen = latenciesMs.length;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  }
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number): number => latenciesMs[Math.floor(latenciesMs.length * share)] ?? NaN;
  const result = { wanted, handled: seen, p50Ms: at(0.5), p99Ms: at(0.99) };
  process.stdout.write(`${JSON.stringify({ ...result, cpuSeconds: cpuSeconds(since) })}\n`);
}
process.exit(0);
