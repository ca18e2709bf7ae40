import type { InformerStatus } from '../../cache/informer.js';
import { describeMissing } from '../../cache/missing.js';
import type { ActiveReconcile } from '../../controller/controller-status.js';
import { describeObject } from '../../object/describe-object.js';
import { OperatorError } from '../../system/operator-error.js';
import type { HealthCheck } from '../health-check.js';
import { isLeaseForbidden } from '../lease-store.js';
import type { ManagerStatus } from '../manager-status.js';
import { errorMessage } from '../../system/as-error.js';

/** What the checks look at. */
export type StatusSource = () => ManagerStatus;

/** Always passes: the process answers. */
export const ping: HealthCheck = { name: 'ping', check: () => undefined };

/**
 * Fails while a cache is not filled, and as long as a kind is not served or may not be read. A watch
 * that is cut does not fail it: what is cached still serves, and every replica would fail at once.
 * Of several clusters only the first counts: the others must not take this one's webhooks away.
 * Objects in quarantine, of all clusters, are remarked: everything else is served.
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

/** So many objects in quarantine are named. */
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

/** Fails while a webhook server is not up. */
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

/** How long nobody may be known to lead before a problem of the election counts, in milliseconds. */
const leaderlessMs = 15_000;

/**
 * Passes on the leader and on a replica that stands by. Fails where the Lease is forbidden. Any other
 * problem is only remarked once a leader was seen: the API server may be away, all replicas would be
 * unready at once, and what they answer from their caches with them.
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

/** Fails as soon as the manager was told to stop, so that no request comes any more. */
export function shutdownCheck(status: StatusSource): HealthCheck {
  return {
    name: 'shutdown',
    check: () => {
      const { phase } = status();
      if (phase === 'stopping' || phase === 'stopped') throw notReady('the manager stops');
    },
  };
}

/** Fails while a reconcile is past its time-out: its key is held, and nobody reconciles it. */
export function heldKeysCheck(status: StatusSource): HealthCheck {
  return {
    name: 'reconciles',
    check: () => throwHeld(status(), () => true),
  };
}

/**
 * Fails while a reconcile lasts longer than `factor` times its time-out: only a restart frees its
 * key. Of controllers without a time-out it knows nothing.
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
