import type { InformerStatus } from '../../cache/informer.js';
import { describeMissing } from '../../cache/missing.js';
import type { ActiveReconcile } from '../../controller/index.js';
import { describeObject } from '../../object/describe-object.js';
import { OperatorError } from '../../system/operator-error.js';
import type { HealthCheck } from '../manager-health.js';
import { isLeaseForbidden } from '../lease.js';
import type { ManagerStatus } from '../manager-status.js';
import { errorMessage } from '../../system/as-error.js';

/** Returns the status that the checks evaluate. */
export type StatusSource = () => ManagerStatus;

/** Always passes: the process responds. */
export const ping: HealthCheck = { name: 'ping', check: () => undefined };

/**
 * Fails until every cache has synced, and while a kind is unserved or may not be read. An interrupted watch
 * does not fail it: the cache still serves, and otherwise all replicas would fail at once. Only the first
 * cluster counts: a failure of another one must not take down this cluster's webhooks. Quarantined objects of
 * all clusters are reported as a remark.
 */
export function cachesCheck(status: StatusSource): HealthCheck {
  return {
    name: 'caches',
    check: () => {
      const { phase, clusters } = status();
      const [home] = clusters;
      const problems = (home?.caches ?? []).flatMap((cache) => problemOf(cache) ?? []);
      if (problems.length > 0) throw notReady(problems.join('; '));
      if (phase === 'new' || phase === 'starting') throw notReady('the manager starts');
    },
    remark: () => quarantineRemark(status()),
  };
}

/** Maximum number of quarantined objects in the remark. */
const maxNamed = 5;

function quarantineRemark({ clusters }: ManagerStatus): string | undefined {
  const objects = clusters.flatMap(({ caches }) => caches.flatMap((cache) => cache.quarantined));
  if (objects.length === 0) return undefined;
  const named = objects
    .slice(0, maxNamed)
    .map((object) => `${describeObject(object)} (${object.reason})`);
  const more = objects.length > maxNamed ? [`${objects.length - maxNamed} more`] : [];
  return `in quarantine: ${[...named, ...more].join('; ')}`;
}

function problemOf(cache: InformerStatus): string | undefined {
  const { kind, apiVersion, synced, missing, problem } = cache;
  if (synced && missing === undefined) return undefined;
  const said = problem instanceof Error ? problem.message : 'still listing';
  const reason = missing === undefined ? said : `${describeMissing(missing)} (${said})`;
  return `${kind} (${apiVersion}): ${reason}`;
}

/** Fails until every webhook server is ready. */
export function webhooksCheck(status: StatusSource): HealthCheck {
  return {
    name: 'webhooks',
    check: () => {
      const down = status()
        .runnables.filter(({ phase, state }) => phase === 'webhook' && state !== 'ready')
        .map(({ name, state }) => `${name}: ${state}`);
      if (down.length > 0) throw notReady(down.join('; '));
    },
  };
}

/** Time without a known leader after which an election problem fails the check, in milliseconds. */
const leaderlessMs = 15_000;

/**
 * Passes on the leader and on standby replicas. Fails if RBAC forbids the Lease. Once a leader was seen, any
 * other problem is only a remark: an API server outage would otherwise make all replicas, and their cached
 * responses, unavailable at once.
 */
export function leaderElectionCheck(status: StatusSource): HealthCheck {
  return {
    name: 'leader-election',
    check: () => {
      const { phase, election } = status();
      if (phase !== 'running') throw notReady('neither leads nor stands by yet');
      if (election?.problem === undefined) return;
      const isOld = election.leaderlessMs >= leaderlessMs;
      if (isLeaseForbidden(election.problem) || isOld) throw notReady(messageOf(election.problem));
    },
    remark: () => {
      const { problem } = status().election ?? {};
      return problem === undefined ? undefined : messageOf(problem);
    },
  };
}

/** Fails once the manager is stopping, so that it receives no more requests. */
export function shutdownCheck(status: StatusSource): HealthCheck {
  return {
    name: 'shutdown',
    check: () => {
      const { phase } = status();
      if (phase === 'stopping' || phase === 'stopped') throw notReady('the manager stops');
    },
  };
}

/** Fails while a reconcile exceeds its timeout: its key cannot be reconciled meanwhile. */
export function heldKeysCheck(status: StatusSource): HealthCheck {
  return {
    name: 'reconciles',
    check: () => throwHeld(status(), () => true),
  };
}

/**
 * Fails while a reconcile lasts longer than `factor` times its timeout: only a restart releases its key.
 * Controllers without a timeout are not checked.
 */
export function stuckReconcilesCheck(status: StatusSource, factor: number): HealthCheck {
  return {
    name: 'reconciles',
    check: () =>
      throwHeld(status(), ({ lastedMs, heldMs }) => lastedMs >= factor * (lastedMs - heldMs)),
  };
}

function throwHeld(
  { controllers }: ManagerStatus,
  matters: (reconcile: ActiveReconcile) => boolean,
): void {
  const held = controllers.flatMap((controller) =>
    controller.held.filter(matters).map(({ cluster, key, lastedMs }) => {
      const where = cluster === '' ? '' : ` of cluster ${cluster}`;
      return `${controller.name} holds ${key}${where} since ${Math.round(lastedMs / 1_000)} s`;
    }),
  );
  if (held.length > 0) throw notReady(held.join('; '));
}

function messageOf(error: unknown): string {
  return errorMessage(error);
}

function notReady(why: string): OperatorError {
  return new OperatorError('Timeout', why);
}
