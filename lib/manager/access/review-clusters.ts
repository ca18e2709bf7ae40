import { isOperatorError } from '../../system/operator-error.js';
import type { Logger } from '../../system/logger.js';
import type { ManagedCluster } from '../managed-cluster.js';
import { neededAccess, wishedAccess } from './needed-access.js';
import { preflight } from './preflight.js';
import type { PreflightMode } from './preflight.js';
import type { RequiredAccess } from './required-access.js';

/** What {@link reviewClusters} asks for. */
export interface ReviewClustersOptions {
  readonly mode: PreflightMode;
  /** The first is home. */
  readonly clusters: Iterable<ManagedCluster>;
  /** What is needed in each of them. */
  readonly required: readonly RequiredAccess[];
  /** What is needed in the first beside that. */
  readonly requiredAtHome: readonly RequiredAccess[];
  readonly logger: Logger;
  /** Told what another than the first lacks. */
  readonly failed: (error: unknown) => void;
}

/**
 * Asks each cluster for the permissions that are needed. Waits for the first only: one that does not
 * answer must not keep the others from work.
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
