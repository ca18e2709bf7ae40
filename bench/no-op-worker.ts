// Measures an operator that has nothing to change: `no-op-worker.ts OWNERS OBJECTS`, with the kubeconfig in
// BENCH_KUBECONFIG. OBJECTS is the number per owner. Prints the CPU time of one reconcile in milliseconds, a
// line of JSON for each round.
import { setTimeout as delay } from 'node:timers/promises';
import { clientFromKubeConfig, ensureCrd, pinoLogger, StatefulSet, streamSource } from './built.js';
import { shipOperator } from './fleet/ship-operator.js';
import { Ship } from './fleet/ship.js';

const [owners = 100, objects = 4] = process.argv.slice(2).map(Number);
const namespace = `no-op-${owners}-${objects}-${process.pid}`;
const rounds = 5;
/** Reconciles of every owner in a round: enough that the background work of the process hardly counts. */
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

/** Waits until the operator has compared every object of every owner since the count `from`. */
async function lookedAt(from: number): Promise<void> {
  while (results - from < owners * objects) await delay(10);
}
/** Waits until no object has been compared for 500 ms. */
async function quiet(): Promise<void> {
  let before = -1;
  while (before !== results) {
    before = results;
    await delay(500);
  }
}
await lookedAt(0);
await quiet();
// An embedded server without controllers completes no rollout, so the status is set here.
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
