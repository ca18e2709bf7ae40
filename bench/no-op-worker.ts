// An operator whose objects are all as wanted: `no-op-worker.ts OWNERS OBJECTS`, the kubeconfig in
// BENCH_KUBECONFIG. Prints the CPU time of one reconcile in milliseconds, a line a round.
import { setTimeout as delay } from 'node:timers/promises';
import { clientFromKubeConfig, ensureCrd, pinoLogger, StatefulSet, streamSource } from './built.js';
import { shipOperator } from './fleet/ship-operator.js';
import { Ship } from './fleet/ship.js';

const [owners = 100, objects = 4] = process.argv.slice(2).map(Number);
const namespace = `no-op-${owners}-${objects}-${process.pid}`;
const rounds = 5;
/** A round wakes every owner so often: what a process does by itself must not count. */
const repeats = Math.ceil(4_000 / owners);

const client = await clientFromKubeConfig({ text: process.env['BENCH_KUBECONFIG'] ?? '' });
await ensureCrd(client, Ship.crd);
await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
const names = Array.from({ length: owners }, (_, n) => `ship-${n}`);
const waiting = [...names];
const create = async (): Promise<void> => {
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const spec = { replicas: 0, settings: { LEVEL: 'info', REGION: 'here' } };
    await client.create(Ship.object({ metadata: { name, namespace }, spec }));
  }
};
await Promise.all(Array.from({ length: 16 }, create));

let results = 0;
let wake: () => void = () => undefined;
const source = streamSource({
  name: 'rounds',
  open: async function* (signal) {
    while (!signal.aborted) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      yield* names;
    }
  },
  mapper: (name) => [{ namespace, name }],
});
const operator = shipOperator({
  ...{ workers: 8, source, moreConfigMaps: objects - 4 },
  onResult: () => {
    results++;
  },
});
const stop = new AbortController();
const logger = pinoLogger({ level: 'error' });
const cacheOptions = { namespaces: [namespace] };
const running = operator.run({ client, logger, cacheOptions, signal: stop.signal });

/** Waits until each object of each owner was looked at. */
async function lookedAt(from: number): Promise<void> {
  while (results - from < owners * objects) await delay(10);
}
/** Waits until nothing is looked at any longer. */
async function quiet(): Promise<void> {
  let before = -1;
  while (before !== results) {
    before = results;
    await delay(500);
  }
}
await lookedAt(0);
await quiet();
// An embedded server without controllers lets no rollout end.
for (const { metadata } of (await client.list(StatefulSet, { namespace })).items) {
  const { name = '', generation: observedGeneration } = metadata;
  const body = { status: { observedGeneration, replicas: 0 } };
  const patch = { type: 'merge', body } as const;
  await client.patch(StatefulSet, { namespace, name }, patch, { subresource: 'status' });
}
await quiet();
for (let round = 0; round < rounds; round++) {
  const begun = process.cpuUsage();
  for (let repeat = 0; repeat < repeats; repeat++) {
    const before = results;
    wake();
    await lookedAt(before);
  }
  const { user, system } = process.cpuUsage(begun);
  console.log(JSON.stringify({ cpuMs: (user + system) / 1_000 / owners / repeats }));
}
stop.abort();
await running;
await client.close();
