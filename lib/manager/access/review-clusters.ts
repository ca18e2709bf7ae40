import { isOperatorError } from '../../system/operator-error.js';
import type { Logger } from '../../system/logger.js';
import type { ManagedCluster } from '../managed-cluster.js';
import { neededAccess, wishedAccess } from './needed-access.js';
import { preflight } from './preflight.js';
import type { PreflightMode } from './preflight.js';
import type { RequiredAccess } from './required-access.js';

/** Options of {@link reviewClusters}. */
export interface ReviewClustersOptions {
  readonly mode: PreflightMode;
  /** The first cluster is home. */
  readonly clusters: Iterable<ManagedCluster>;
  /** Access needed in each cluster. */
  readonly required: readonly RequiredAccess[];
  /** Additional access needed in the first cluster. */
  readonly requiredAtHome: readonly RequiredAccess[];
  readonly logger: Logger;
  /** Called with the missing permissions of a cluster other than the first. */
  readonly failed: (error: unknown) => void;
}

/**
 * Reviews the operator's permissions in each cluster. It waits only for the first one: an unreachable cluster
 * must not block the others.
 * @throws OperatorError `MissingPermission`: see `PreflightMode`.
 * @throws the signal's reason, as soon as it is aborted.
 */
export async function reviewClusters(
  { clusters, required, requiredAtHome, failed, ...options }: ReviewClustersOptions,
  signal: AbortSignal,
): Promise<void> {
  const review = (cluster: ManagedCluster, wanted: readonly RequiredAccess[]): Promise<void> => {
    const { name, given: client } = cluster;
    const logger = name === '' ? options.logger : options.logger.child({ cluster: name });
    const needed = neededAccess(cluster, wanted);
    const { mode } = options;
    const shared = { client, roleName: 'operator', logger, signal };
    return preflight({ ...shared, mode, required: needed, wished: wishedAccess(cluster) });
  };
  const [home, ...others] = clusters;
  for (const cluster of others) {
    review(cluster, required).catch((error: unknown) => {
      if (isOperatorError(error, 'MissingPermission')) failed(error);
      else options.logger.warn('permissions could not be reviewed', { error });
    });
  }
  if (home !== undefined) await review(home, [...required, ...requiredAtHome]);
}
