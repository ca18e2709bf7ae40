import { WorkQueue } from '../lib/controller/queue.js';
import { ratioOf, rowOf } from './bench-result.js';
import type { BenchResult } from './bench-result.js';

const rounds = 9;
const keys = Array.from({ length: 50_000 }, (_, n) => `ns-${n % 50}/object-${n}`);

/** Operations that the bench measures: `get` returns the next key, `done` ends its processing. */
interface Queue {
  add(key: string): void;
  get(): Promise<{ readonly key: string } | undefined>;
  done(key: string): void;
}

/**
 * Measures keys per second through the work queue, each by `add`, `get` and `done`. Node has no keyed work
 * queue to compare with: p-queue queues functions, not keys. The baseline is a minimal queue: an array, and
 * sets of the waiting and of the processed keys. It has no priorities, delays, aging, metrics, or fairness
 * between namespaces.
 */
export async function benchQueue(): Promise<BenchResult> {
  const ours: number[] = [];
  const least: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const measureOurs = async () =>
      void ours.push(await perSecond(new WorkQueue({ name: 'bench' })));
    const measureLeast = async () => void least.push(await perSecond(plainQueue()));
    // The order alternates, so that a change in the machine's speed affects both alike.
    const order = round % 2 === 0 ? [measureOurs, measureLeast] : [measureLeast, measureOurs];
    for (const step of order) await step();
  }
  // The first round is the warm-up.
  const [mine, plain] = [ours.slice(1), least.slice(1)];
  return {
    name: `work queue, ${keys.length} keys of 50 namespaces`,
    unit: 'keys/s',
    rows: [
      rowOf('add, get, done: operator-builder', mine),
      rowOf('add, get, done: array and two sets', plain),
    ],
    ratio: ratioOf('operator-builder to array and two sets', mine, plain),
  };
}

async function perSecond(queue: Queue): Promise<number> {
  const startMs = performance.now();
  for (const key of keys) queue.add(key);
  // Half of the keys are added again: a busy controller mostly adds keys that are already waiting.
  for (let n = 0; n < keys.length; n += 2) queue.add(keys[n] ?? '');
  for (let left = keys.length; left > 0; left--) {
    const item = await queue.get();
    queue.done(item?.key ?? '');
  }
  return keys.length / ((performance.now() - startMs) / 1_000);
}

function plainQueue(): Queue {
  const line: string[] = [];
  const waiting = new Set<string>();
  const working = new Set<string>();
  let head = 0;
  return {
    add: (key) => {
      if (waiting.has(key)) return;
      waiting.add(key);
      if (!working.has(key)) line.push(key);
    },
    get: async () => {
      const key = line[head++] ?? '';
      waiting.delete(key);
      working.add(key);
      return { key };
    },
    done: (key) => {
      working.delete(key);
      if (waiting.has(key)) line.push(key);
    },
  };
}
