import type { Client } from '../client/client.js';
import { faultyClientsOf } from '../client/faulty.js';
import { EmbeddedCluster } from '../embedded/embedded-cluster.js';
import type { EmbeddedClusterOptions } from '../embedded/embedded-cluster-options.js';
import type { Clock } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';
import { seededRandom } from '../system/random.js';
import { VirtualClock } from '../system/virtual-clock.js';
import { assertFaultsInjected } from './fault-on.js';

/** A hook of a test runner: mocha, node:test, vitest, jest. */
export type TestHook = (run: () => Promise<void>) => unknown;

/** The hooks in which {@link testCluster} starts and stops its cluster. */
export interface TestHooks {
  readonly before: TestHook;
  readonly after: TestHook;
}

/** Options of {@link testCluster}. */
export interface TestClusterOptions<C extends Clock = VirtualClock> extends Omit<
  EmbeddedClusterOptions,
  'clock'
> {
  /**
   * Creates the clock.
   * @defaultValue a `VirtualClock` per cluster: pass `cluster().clock` to the tested code
   */
  readonly clock?: (() => C) | undefined;
  /** One cluster for the whole suite, not one for each test. @defaultValue false */
  readonly shared?: boolean | undefined;
  /**
   * The hooks to use.
   * @defaultValue the global `beforeEach` and `afterEach`; if `shared`, `before` and `after`
   */
  readonly hooks?: TestHooks | undefined;
}

/**
 * Creates an `EmbeddedCluster` for the tests of a suite: it starts before each test (in a few milliseconds)
 * and stops after it. Call it in a `describe`. By default, workloads are simulated and random values are
 * seeded.
 *
 * After each test it asserts that every fault has occurred that the test added to `cluster().faults`, or gave
 * to `faulty` with a client of the cluster; see `assertFaultsInjected`.
 *
 * @example
 * ```ts
 * describe('my operator', () => {
 *   const cluster = testCluster({ crds: [shopCrd] });
 *
 *   it('makes a ConfigMap', async () => {
 *     const client = cluster().client();
 *   });
 * });
 * ```
 * @returns a function that returns the running cluster; it throws `Stopped` outside of a test
 * @throws OperatorError `InvalidOption`: no hooks were given, and there are no global hooks.
 */
export function testCluster(options?: TestClusterOptions): () => EmbeddedCluster<VirtualClock>;
/** Creates a cluster with another clock. */
export function testCluster<C extends Clock>(
  options: TestClusterOptions<C> & { readonly clock: () => C },
): () => EmbeddedCluster<C>;
export function testCluster(options: TestClusterOptions<Clock> = {}): () => EmbeddedCluster {
  const { shared = false, hooks = globalHooks(shared), clock, ...rest } = options;
  let running: EmbeddedCluster | undefined;
  let clients: readonly Client[] = [];
  hooks.before(async () => {
    const { simulateWorkloads = true, random = seededRandom(1) } = rest;
    const time = clock?.() ?? new VirtualClock();
    running = await EmbeddedCluster.start({ ...rest, simulateWorkloads, random, clock: time });
    clients = clientsOf(running);
  });
  hooks.after(async function (this: unknown) {
    const stopped = running;
    running = undefined;
    await stopped?.stop();
    if (stopped === undefined || hasFailed(this)) return;
    assertFaultsInjected(stopped, ...clients.flatMap(faultyClientsOf));
  });
  return () => {
    if (running !== undefined) return running;
    throw new OperatorError('Stopped', 'testCluster: the cluster runs in tests and hooks only');
  };
}

/** Records the clients that `cluster` creates from now on. */
function clientsOf(cluster: EmbeddedCluster): readonly Client[] {
  const clients: Client[] = [];
  const newClient = cluster.client.bind(cluster);
  cluster.client = (options) => {
    const client = newClient(options);
    clients.push(client);
    return client;
  };
  return clients;
}

/** Returns true if mocha's context reports that the test has failed; its failure takes precedence. */
function hasFailed(context: unknown): boolean {
  const { currentTest } = (context ?? {}) as {
    readonly currentTest?: { readonly state?: string | undefined } | undefined;
  };
  return currentTest?.state === 'failed';
}

function globalHooks(shared: boolean): TestHooks {
  const known = globalThis as Readonly<Record<string, unknown>>;
  const find = (names: readonly string[]): TestHook => {
    const hook = names.map((name) => known[name]).find((each) => typeof each === 'function');
    if (hook !== undefined) return hook as TestHook;
    const message = `testCluster: there is no global ${names.join(' or ')}: hand the hooks over`;
    throw new OperatorError('InvalidOption', message);
  };
  return {
    before: find(shared ? ['before', 'beforeAll'] : ['beforeEach']),
    after: find(shared ? ['after', 'afterAll'] : ['afterEach']),
  };
}
