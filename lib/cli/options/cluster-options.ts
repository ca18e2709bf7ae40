import type { Command } from 'commander';
import { clusterText } from '../../feed/text-logger.js';
import type { ConnectedClient } from '../../client/http-client.js';
import type { Logger } from '../../system/logger.js';
import type { CommandContext } from '../command-context.js';

/** Options that select a cluster. */
export interface ClusterOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** Adds `--kubeconfig` and `--context`. */
export function addClusterOptions(command: Command): Command {
  return command
    .option(
      '--kubeconfig <file>',
      'the cluster (default: KUBECONFIG, the service account of the pod, or ~/.kube/config)',
    )
    .option('--context <name>', "a context of the kubeconfig (default: the file's current one)");
}

/**
 * Returns the client of the selected cluster.
 * @throws OperatorError `InvalidKubeConfig`: no cluster is configured, or the file is invalid
 */
export async function clusterClient(
  { kubeconfig: path, context }: ClusterOptions,
  { env }: CommandContext,
  logger: Logger,
): Promise<ConnectedClient> {
  const { defaultClient } = await import('../../client/default-client.js');
  return defaultClient({ path, context, env, logger });
}

/**
 * Returns the name of the cluster that {@link clusterClient} connects to:
 * `context kind-dev: https://127.0.0.1:6443`.
 */
export async function clusterName(
  { kubeconfig: path, context }: ClusterOptions,
  { env }: CommandContext,
): Promise<string> {
  const { defaultCluster } = await import('../../client/default-client.js');
  return clusterText(await defaultCluster({ path, context, env }));
}
