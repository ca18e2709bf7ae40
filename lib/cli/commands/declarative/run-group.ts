import type { Client } from '../../../client/client.js';
import { Group } from '../../../declarative/operator/index.js';
import { DeclarativeManager } from '../../../declarative/views/index.js';
import type { Logger } from '../../../system/logger.js';
import { isOperatorError } from '../../../system/operator-error.js';
import type { CommandContext } from '../../command-context.js';
import { clusterClient, commandLogger, managerOptionsOf } from '../../options.js';
import type { ClusterOptions, LogOptions, ProcessOptions } from '../../options.js';
import { startViewServer } from './view-server.js';
import type { ViewServerOptions } from './view-server.js';

/** Parameters of {@link runGroup}. */
export interface GroupRun {
  readonly options: ClusterOptions & ProcessOptions & LogOptions;
  /** Undefined: views are not served. */
  readonly viewServer: ViewServerOptions | undefined;
  /**
   * Adds the operators to the group.
   * @returns the work that runs beside the group
   */
  readonly fill: (group: Group, running: RunningGroup) => Promise<Beside | undefined>;
}

/** Runs until the signal is aborted; never rejects. */
export type Beside = (signal: AbortSignal) => Promise<void>;

/** The parts of a running group. */
export interface RunningGroup {
  /** Client of the cluster. */
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
    });
    try {
      await runManaged(run, { client, manager, logger, signal });
    } finally {
      await manager.stop();
    }
  } catch (error) {
    // The user stopped it during the start.
    if (!signal.aborted || !isOperatorError(error, 'Aborted')) throw error;
  } finally {
    await client.close();
  }
}

async function runManaged({ viewServer, fill }: GroupRun, running: RunningGroup): Promise<void> {
  const { manager, logger, signal } = running;
  const apiServer = viewServer && (await startViewServer(viewServer, logger));
  try {
    const group = new Group({ manager, apiServer, logger });
    const beside = await fill(group, running);
    const logged = logErrors(group, logger);
    const ended = new AbortController();
    const goesOn = beside?.(AbortSignal.any([signal, ended.signal]));
    try {
      await group.start(signal);
    } finally {
      ended.abort();
      await Promise.all([goesOn, logged]);
    }
  } finally {
    await apiServer?.stop();
  }
}

async function logErrors(group: Group, logger: Logger): Promise<void> {
  for await (const { operator, controller, stage, subject, message } of group.errors) {
    logger.error(message, { operator, controller, stage, subject });
  }
}
