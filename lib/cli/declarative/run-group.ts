import type { Client } from '../../client/index.js';
import type { ViewApiServer } from '../../declarative/index.js';
import { Group, DeclarativeManager } from '../../declarative/index.js';
import { isLoopback, metricsCertificate } from '../../manager/index.js';
import type { ManagerOptions } from '../../manager/index.js';
import type { Logger } from '../../system/index.js';
import { isOperatorError } from '../../system/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { clusterClient, commandLogger, managerOptionsOf } from '../options.js';
import type { ClusterOptions, LogOptions, NamespacedName, ProcessOptions } from '../options.js';

export interface GroupRun {
  readonly options: ClusterOptions & ProcessOptions & LogOptions & GroupOptions;
  /** Undefined: views are not served. */
  readonly viewServer: ViewServerOptions | undefined;
  /** Adds the operators to the group. @returns the work that runs concurrently with the group */
  readonly fill: (group: Group, running: RunningGroup) => Promise<Beside | undefined>;
}

/** Options of a process that runs declarative operators in a cluster. */
export interface GroupOptions {
  /** Namespace and name of the deployment whose Service exposes the metrics over HTTPS. */
  readonly metricsAuth?: NamespacedName | undefined;
  /** Limits the operators to these namespaces. @defaultValue all */
  readonly namespaces?: readonly string[] | undefined;
}

/** Runs until the signal is aborted; never rejects. */
export type Beside = (signal: AbortSignal) => Promise<void>;

export interface RunningGroup {
  readonly client: Client;
  readonly manager: DeclarativeManager;
  readonly logger: Logger;
  /** Aborted when the group is to stop. */
  readonly signal: AbortSignal;
}

/** Runs a group of declarative operators until SIGINT or SIGTERM, which count as success. */
export async function runGroup(run: GroupRun, context: CommandContext): Promise<void> {
  const signal = context.stopSignal();
  const logger = await commandLogger(run.options, context);
  const client = await clusterClient(run.options, context, logger);
  try {
    const manager = await DeclarativeManager.create({
      ...{ client, logger, clock: context.clock },
      ...managerOptionsOf(run.options),
      ...ownOptionsOf(run.options, client),
    });
    try {
      await runManaged(run, { client, manager, logger, signal });
    } finally {
      await manager.stop();
    }
  } catch (error) {
    // The user stopped the group during its start.
    if (!signal.aborted || !isOperatorError(error, 'Aborted')) throw error;
  } finally {
    await client.close();
  }
}

/** @throws UsageError metrics are authenticated, but not served */
function ownOptionsOf(
  { metricsPort: port, metricsAuth, namespaces }: GroupRun['options'],
  client: Client,
): Pick<ManagerOptions, 'metrics' | 'cacheOptions'> {
  const limited = namespaces === undefined ? {} : { cacheOptions: { namespaces } };
  if (metricsAuth === undefined) return limited;
  if (port === undefined) throw new UsageError('--metrics-auth: pass --metrics-port too');
  const certificate = metricsCertificate(metricsAuth, client);
  return { ...limited, metrics: { port, access: 'reviewed', certificate } };
}

async function runManaged({ viewServer, fill }: GroupRun, running: RunningGroup): Promise<void> {
  const { manager, logger, signal } = running;
  const apiServer = viewServer && (await startViewServer(viewServer, logger));
  try {
    const group = new Group({ manager, apiServer, logger });
    const beside = await fill(group, running);
    const ended = new AbortController();
    const goesOn = beside?.(AbortSignal.any([signal, ended.signal]));
    try {
      await group.start(signal);
    } finally {
      ended.abort();
      await goesOn;
    }
  } finally {
    await apiServer?.stop();
  }
}

export interface ViewServerOptions {
  readonly port: number;
  /** The address to listen on; without keys, a loopback address. */
  readonly host?: string | undefined;
  /** Directory of `declarative keys`, for HTTPS with tokens. Without it, plain HTTP serves this machine only. */
  readonly keys?: string | undefined;
  /** Name of the option with the keys, for messages. */
  readonly keysOption: string;
}

/**
 * Starts the server of views.
 * @returns the listening server
 * @throws UsageError other machines could connect, and keys are missing
 * @throws OperatorError `InvalidConfig`: a key can't be read; `ListenFailed`: the port is taken
 */
export async function startViewServer(
  { port, host, keys, keysOption }: ViewServerOptions,
  logger: Logger,
): Promise<ViewApiServer> {
  if (keys === undefined && host !== undefined && !isLoopback(host)) {
    const remedy = `pass ${keysOption} with a directory from operator-builder declarative keys`;
    throw new UsageError(`${host}: plain HTTP is possible on loopback addresses only; ${remedy}`);
  }
  const { ViewApiServer } = await import('../../declarative/index.js');
  const { readServerKeys } = await import('./view-access.js');
  const secured = keys === undefined ? {} : await readServerKeys(keys);
  const server = new ViewApiServer({ port, host, logger, ...secured });
  await server.start();
  return server;
}
