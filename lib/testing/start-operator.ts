import type { EmbeddedCluster } from '../embedded/embedded-cluster.js';
import { usedRoles } from '../embedded/index.js';
import type { PolicyRule, RequestEntry } from '../embedded/index.js';
import { OperatorRole } from '../manager/access/operator-role.js';
import { Manager } from '../manager/index.js';
import type { ManagerOptions, OperatorDefinition } from '../manager/index.js';
import { OperatorError } from '../system/operator-error.js';
import { eventually } from './eventually.js';
import type { EventuallyOptions } from './eventually.js';

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
   * Rules of the role beside those that the operator declares, such as the rules below the marker in
   * `config/rbac/role.yaml`.
   * @defaultValue none
   */
  readonly rules?: readonly PolicyRule[] | undefined;
}

/** An operator that runs on an embedded cluster; see {@link startOperator}. */
export interface RunningOperator {
  readonly manager: Manager;
  /** The user name of its ServiceAccount, as in `cluster.requests`. */
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
   * Returns the permissions of its role that it has not used, for example `delete deployments.apps`. The
   * permissions to read a watched kind count as one.
   */
  readonly unusedRights: () => readonly string[];
  /** Stops the operator. @throws the error with which it failed. */
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
 * @throws any error of its `setup`.
 */
export async function startOperator(
  cluster: EmbeddedCluster,
  operator: StartedOperator,
  options: StartOperatorOptions = {},
): Promise<RunningOperator> {
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
    // The only replica owns all keys.
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
      await running;
      await client.close();
      signal.throwIfAborted();
    },
  };
}

function definitionOf(
  operator: StartedOperator,
): Exclude<StartedOperator, OperatorDefinition['setup']> {
  return typeof operator === 'function' ? { setup: operator } : operator;
}

/** Permissions that requests show late or never: repeated events are patched. */
const unseen = /^(update \S+\/finalizers(\..*)?|patch events\.events\.k8s\.io)$/;

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

/** Returns `verb resource.group` for each permission in the rules. */
function rightsOf(rules: readonly PolicyRule[]): readonly string[] {
  return rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => `${verb} ${resource}${group === '' ? '' : `.${group}`}`),
      ),
    ),
  );
}
