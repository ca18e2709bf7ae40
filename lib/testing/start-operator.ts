import type { Client } from '../client/index.js';
import { faultyClientsOf } from '../client/index.js';
import type { EmbeddedClusterOptions, RequestEntry } from '../apiserver/index.js';
import { EmbeddedCluster } from '../apiserver/index.js';
import { usedRoles } from '../apiserver/internal.js';
import type { PolicyRule } from '../apiserver/internal.js';
import { OperatorRole, Manager, misplacedManagerOptions } from '../manager/index.js';
import type { ManagerOptions, OperatorDefinition } from '../manager/index.js';
import type { Clock, OptionNames } from '../system/index.js';
import {
  endsWithin,
  OperatorError,
  refuseUnknownOptions,
  seededRandom,
  systemClock,
  VirtualClock,
} from '../system/index.js';
import { eventually } from './eventually.js';
import type { EventuallyOptions } from './eventually.js';
import { assertFaultsInjected } from './fault-on.js';

/** An operator to start: its definition, or a function that adds its controllers to a manager. */
export type StartedOperator =
  | OperatorDefinition['setup']
  | (Pick<OperatorDefinition, 'setup'> &
      Partial<Pick<OperatorDefinition, 'name' | 'cacheOptions'>>);

/** Options of {@link startOperator}, including those of the manager. */
export interface StartOperatorOptions extends Omit<
  ManagerOptions,
  'client' | 'clusters' | 'tracer'
> {
  /** Run the operator without a role, with all permissions. @defaultValue false */
  readonly asAdmin?: boolean | undefined;
  /**
   * Rules of the role besides those that the operator declares, such as the rules below the marker in
   * `config/rbac/role.yaml`.
   * @defaultValue none
   */
  readonly rules?: readonly PolicyRule[] | undefined;
}

const startOptionNames: OptionNames<StartOperatorOptions> = {
  ...{ asAdmin: true, rules: true, name: true, cacheOptions: true, leaderElection: true },
  ...{ shards: true, whenLeadershipIsLost: true, health: true, metrics: true, inspector: true },
  ...{ webhooks: true, rbacPreflight: true, requires: true, onEvent: true, clock: true },
  ...{ gracefulShutdownMs: true, startTimeoutMs: true, cacheSyncTimeoutMs: true },
  ...{ random: true, logger: true },
};

const ofCluster = 'leave it out, because the cluster sets it';
const misplaced = {
  ...misplacedManagerOptions,
  ...{ client: ofCluster, clusters: ofCluster, tracer: ofCluster },
};

/** An operator that runs on an embedded cluster; see {@link startOperator}. */
export interface RunningOperator {
  readonly manager: Manager;
  /** The user name of the operator's ServiceAccount, as in `cluster.requests`. */
  readonly user: string;
  /**
   * Aborted as soon as the operator fails: it lacks a rule (`MissingPermission`), or its manager ends with an
   * error. The error is the reason.
   */
  readonly signal: AbortSignal;
  /**
   * Calls `check` until it no longer throws, like the function `eventually`, by the cluster's clock.
   * @throws the operator's error, as soon as it fails.
   */
  readonly eventually: <T>(check: () => T | Promise<T>, options?: EventuallyOptions) => Promise<T>;
  /**
   * Returns the permissions of the operator's role that it has not used, for example `delete deployments.apps`. The
   * permissions to read a watched kind count as one.
   */
  readonly unusedRights: () => readonly string[];
  /**
   * Stops the operator. If a reconcile does not end, a `VirtualClock` advances until the manager's `gracefulShutdownMs`
   * is over.
   * @throws the error with which the operator failed.
   */
  readonly stop: () => Promise<void>;
}

/**
 * Starts an operator on an embedded cluster with its role: the permissions that its controllers declare, as
 * `operator-builder manifests` would write them into `config/rbac/role.yaml`. A request without a rule gets a
 * 403 and fails the operator; the error has the rule to add.
 *
 * @example
 * ```ts
 * const operator = await startOperator(cluster, setupShopController);
 * await operator.eventually(async () => {
 *   assert.equal((await client.get(Deployment, key)).status?.readyReplicas, 2);
 * });
 * await operator.stop();
 * ```
 * @throws OperatorError `InvalidOption`: an option is unknown; any error of its `setup`.
 */
export async function startOperator(
  cluster: EmbeddedCluster,
  operator: StartedOperator,
  options: StartOperatorOptions = {},
): Promise<RunningOperator> {
  refuseUnknownOptions('startOperator', options, startOptionNames, misplaced);
  const { asAdmin = false, rules = [], shards, leaderElection, ...others } = options;
  const definition = definitionOf(operator);
  const { name = 'operator', cacheOptions } = definition;
  const { clock } = cluster;
  const failing = new AbortController();
  const fail = (error: unknown): void => failing.abort(error);
  const role = new OperatorRole({
    name,
    cluster,
    onMissing: ({ message }) => fail(new OperatorError('MissingPermission', message)),
  });
  const { user, tracer } = role;
  const client = cluster.client({ user, authorizer: asAdmin ? undefined : role });
  const manager = new Manager({
    ...{ clock, cacheOptions, ...others, leaderElection, client, tracer },
    // Without leader election, this is the only replica, which owns all keys.
    shards: shards ?? (leaderElection === undefined ? false : undefined),
  });
  await definition.setup(manager);
  await role.declare(manager.requiredAccess(), { everywhere: rules, inNamespaces: new Map() });
  const stopping = new AbortController();
  const { signal } = failing;
  const running = manager.run(stopping.signal).catch(fail);
  const isOwn = (entry: RequestEntry): boolean => entry.user === user;
  return {
    ...{ manager, user, signal },
    eventually: (check, limits = {}) => eventually(check, { clock, signal, ...limits }),
    unusedRights: () => unusedOf(role.rules, cluster.requests.entries.filter(isOwn)),
    stop: async () => {
      stopping.abort();
      if (clock instanceof VirtualClock) await advanceUntil(running, clock);
      await running;
      await client.close();
      signal.throwIfAborted();
    },
  };
}

/** Advances `clock` in growing steps until `work`, which must not fail, ends. */
async function advanceUntil(work: Promise<unknown>, clock: VirtualClock): Promise<void> {
  // Reconciles that only wait for I/O end by themselves.
  if (await endsWithin(work, 1_000, systemClock)) return;
  const [longestMs, ioMs] = [60_000, 100];
  for (let ms = 1_000; !(await endsWithin(work, ioMs, systemClock));) {
    await clock.advance(ms);
    ms = Math.min(ms * 2, longestMs);
  }
}

function definitionOf(
  operator: StartedOperator,
): Exclude<StartedOperator, OperatorDefinition['setup']> {
  return typeof operator === 'function' ? { setup: operator } : operator;
}

/**
 * Permissions that requests do not show, or only late. The server checks `update` of finalizers, `bind` and
 * `escalate` without a request of its own, and an Event is patched only when it repeats.
 */
const unseen =
  /^(update \S+\/finalizers(\..*)?|patch events\.events\.k8s\.io|(bind|escalate|impersonate|use) .*)$/;

function unusedOf(
  given: readonly PolicyRule[],
  entries: readonly RequestEntry[],
): readonly string[] {
  const used = new Set(
    rightsOf(usedRoles(entries, { clusterWide: true }).flatMap(({ rules }) => rules)),
  );
  const isRead = (right: string): boolean =>
    used.has(right.replace(/^(get|list) /, 'watch ')) && /^(get|list) /.test(right);
  return [...new Set(rightsOf(given))].filter(
    (right) => !used.has(right) && !isRead(right) && !unseen.test(right),
  );
}

/**
 * Returns `verb resource.group` for each permission on resources: the clients of an operator request no other paths.
 */
function rightsOf(rules: readonly PolicyRule[]): readonly string[] {
  return rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => `${verb} ${resource}${group === '' ? '' : `.${group}`}`),
      ),
    ),
  );
}

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
 * After each test it asserts that every fault of the test has occurred; see `assertFaultsInjected`. These are
 * the faults in `cluster().faults`, and those of `faulty` clients on the cluster's clients.
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
    throw new OperatorError(
      'Stopped',
      'testCluster: the cluster runs only during a test or a hook; ask for it there',
    );
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
    const message = `testCluster: there is no global ${names.join(' or ')}: pass the hooks`;
    throw new OperatorError('InvalidOption', message);
  };
  return {
    before: find(shared ? ['before', 'beforeAll'] : ['beforeEach']),
    after: find(shared ? ['after', 'afterAll'] : ['afterEach']),
  };
}
