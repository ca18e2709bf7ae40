import { expect } from 'chai';
import fc from 'fast-check';
import { WorkQueue } from '../../lib/controller/queue.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { tries } from '../sample.js';
import { QueueModel } from './queue-model.js';

const agingEvery = 3;

/** The queue and its clock. */
interface Real {
  readonly clock: VirtualClock;
  readonly queue: WorkQueue;
}

class Step implements fc.AsyncCommand<QueueModel, Real> {
  readonly #name: string;
  readonly #when: (model: Readonly<QueueModel>) => boolean;
  readonly #does: (model: QueueModel, real: Real) => void | Promise<void>;

  constructor(
    name: string,
    does: (model: QueueModel, real: Real) => void | Promise<void>,
    when: (model: Readonly<QueueModel>) => boolean = () => true,
  ) {
    this.#name = name;
    this.#does = does;
    this.#when = when;
  }

  check(model: Readonly<QueueModel>): boolean {
    return this.#when(model);
  }

  async run(model: QueueModel, real: Real): Promise<void> {
    await this.#does(model, real);
    agree(model, real);
  }

  toString(): string {
    return this.#name;
  }
}

function agree(model: QueueModel, { clock, queue }: Real): void {
  expect(queue.depth).to.equal(model.ready.size);
  expect(queue.delayed).to.equal(model.delayed.size);
  const waiting = [...model.ready, ...model.delayed, ...model.again].map(([key]) => key);
  expect(queue.waiting().sort()).to.deep.equal(waiting.sort());
  const soonest = [...model.delayed]
    .toSorted(([, one], [, other]) => one.dueMs - other.dueMs || one.order - other.order)
    .map(([key, { dueMs, priority }]) => ({ key, priority, inMs: dueMs - model.nowMs }));
  expect(queue.soonest(3)).to.deep.equal(soonest.slice(0, 3));
  const longest = queue.longestWaiting(3);
  expect(longest).to.have.length(Math.min(3, model.ready.size));
  for (const { key } of longest) expect(model.ready.has(key), key).to.equal(true);
  const waitedMs = longest.map((each) => each.waitedMs);
  expect(waitedMs).to.deep.equal(waitedMs.toSorted((one, other) => other - one));
  expect(clock.pendingTimers).to.equal(model.delayed.size > 0 ? 1 : 0);
  for (const [key, failures] of model.failures) expect(queue.failures(key)).to.equal(failures);
}

const keys = fc.constantFrom('a/1', 'a/2', 'b/1', 'cluster-scoped', 'east//a/1');
const priorities = fc.constantFrom(-100, 0, 0, 7);

const steps = [
  fc.tuple(keys, priorities, fc.constantFrom(0, 0, 0, 1, 10, 500)).map(
    ([key, priority, afterMs]) =>
      new Step(`add ${key} ${priority} after ${afterMs}`, (model, { queue }) => {
        model.add(key, { priority, afterMs });
        queue.add(key, { priority, afterMs });
      }),
  ),
  keys.map(
    (key) =>
      new Step(`fail ${key}`, (model, { queue }) => {
        expect(queue.addRateLimited(key)).to.equal(model.fail(key));
      }),
  ),
  keys.map(
    (key) =>
      new Step(`forget ${key}`, (model, { queue }) => {
        model.failures.delete(key);
        queue.forget(key);
        expect(queue.failures(key)).to.equal(0);
      }),
  ),
  keys.map(
    (key) =>
      new Step(`remove ${key}`, (model, { queue }) => {
        model.remove(key);
        queue.remove(key);
        expect(queue.waiting()).to.not.include(key);
        expect(queue.failures(key)).to.equal(0);
      }),
  ),
  // This step is listed twice, so that there are as many removals as additions.
  ...[1, 2].map(() =>
    fc.constant(
      new Step(
        'get',
        async (model, { queue }) => {
          const candidates = model.candidates();
          const item = await queue.get();
          expect(candidates).to.include(item?.key);
          expect(item?.priority).to.equal(model.ready.get(item?.key ?? '')?.priority);
          model.take(item?.key ?? '');
        },
        (model) => model.ready.size > 0,
      ),
    ),
  ),
  fc.nat(9).map(
    (n) =>
      new Step(
        `done the ${n}th`,
        (model, { queue }) => {
          const working = [...model.processing].sort();
          const key = working[n % working.length]!;
          model.done(key);
          queue.done(key);
        },
        (model) => model.processing.size > 0,
      ),
  ),
  fc.constantFrom(1, 4, 10, 500).map(
    (ms) =>
      new Step(`advance ${ms}`, async (model, { clock }) => {
        await clock.advance(ms);
        model.advance(ms);
      }),
  ),
  fc.constant(
    new Step('shutDown', async (model, { queue }) => {
      // Shuts the queue down rarely, so that most steps test a running queue.
      if (model.nowMs % 7 !== 6) return;
      model.shutDown();
      queue.shutDown();
      expect(await queue.get()).to.equal(undefined);
    }),
  ),
];

describe('the work queue in random sequences of calls', () => {
  it('behaves like a simple model of a queue', async () => {
    const property = fc.asyncProperty(
      fc.commands(steps, { maxCommands: 60, size: 'max' }),
      async (commands) => {
        await fc.asyncModelRun(() => {
          const clock = new VirtualClock();
          const queue = new WorkQueue({ name: 'test', clock, agingEvery });
          return { model: new QueueModel(agingEvery), real: { clock, queue } };
        }, commands);
      },
    );
    await fc.assert(property, { numRuns: tries(120) });
  });

  it('hands out keys of all clusters evenly, and within a cluster keys of all namespaces evenly', async () => {
    const line = fc.tuple(
      fc.constantFrom('', 'east//', 'west//'),
      fc.constantFrom('a/', 'b/', 'c/'),
    );
    const property = fc.asyncProperty(
      fc.array(line, { maxLength: 60, size: 'max' }),
      async (lines) => {
        const queue = new WorkQueue({ name: 'test', agingEvery: Number.MAX_SAFE_INTEGER });
        const left = new Map<string, string[]>();
        lines.forEach(([cluster, namespace], n) => {
          queue.add(`${cluster}${namespace}${n}`);
          for (const group of [cluster, cluster + namespace]) {
            left.set(group, [...(left.get(group) ?? []), `${cluster}${namespace}${n}`]);
          }
        });
        const served = new Map([...left.keys()].map((group) => [group, 0]));
        while (queue.depth > 0) {
          const { key } = (await queue.get())!;
          const cluster = key.includes('//') ? `${key.split('//')[0]!}//` : '';
          const namespace = key.slice(0, key.lastIndexOf('/') + 1);
          for (const [group, siblings] of [
            [cluster, [...left.keys()].filter((each) => each === '' || each.endsWith('//'))],
            [
              namespace,
              [...left.keys()].filter(
                (each) =>
                  each !== '' &&
                  !each.endsWith('//') &&
                  each.slice(0, -2) === namespace.slice(0, -2),
              ),
            ],
          ] as const) {
            served.set(group, served.get(group)! + 1);
            left.set(
              group,
              left.get(group)!.filter((each) => each !== key),
            );
            for (const sibling of siblings) {
              // A waiting group is at most one turn behind the group served now.
              if (left.get(sibling)!.length === 0) continue;
              expect(served.get(sibling)!).to.be.at.least(served.get(group)! - 1);
            }
          }
        }
      },
    );
    await fc.assert(property, { numRuns: tries(100) });
  });

  it('hands out keys of low priority in time, however many keys of higher priority arrive', async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 20 }),
      async (every, lows) => {
        const queue = new WorkQueue({ name: 'test', agingEvery: every });
        for (let n = 0; n < lows; n++) queue.add(`ns/low${n}`, { priority: -100 });
        const seen: string[] = [];
        for (let turn = 0; turn < lows * every; turn++) {
          for (let n = 0; n < 3; n++) queue.add(`ns/high${turn}-${n}`, { priority: 5 });
          const item = await queue.get();
          seen.push(item!.key);
          queue.done(item!.key);
        }
        expect(seen.filter((key) => key.startsWith('ns/low')).length).to.equal(lows);
      },
    );
    await fc.assert(property, { numRuns: tries(30) });
  });

  it('resolves one get() for each ready key, in the order of the calls, and never two for one key', async () => {
    const property = fc.asyncProperty(
      fc.array(keys, { maxLength: 12, size: 'max' }),
      fc.integer({ min: 1, max: 5 }),
      async (adds, workers) => {
        const queue = new WorkQueue({ name: 'test', clock: new VirtualClock() });
        const got: [number, string][] = [];
        const waiting = Array.from({ length: workers }, async (_, worker) => {
          const item = await queue.get();
          if (item !== undefined) got.push([worker, item.key]);
        });
        for (const key of adds) queue.add(key);
        // Keys are handed out a microtask after they are added.
        await Promise.resolve();
        queue.shutDown();
        await Promise.all(waiting);
        const woken = Math.min(workers, new Set(adds).size);
        expect(got.map(([worker]) => worker)).to.deep.equal([...Array(woken).keys()]);
        expect(new Set(got.map(([, key]) => key)).size).to.equal(woken);
        expect(adds).to.include.members(got.map(([, key]) => key));
      },
    );
    await fc.assert(property, { numRuns: tries(100) });
  });
});
