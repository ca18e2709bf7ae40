import { isLoopback } from '../../../manager/inspector/bind-inspector.js';
import type { ViewApiServer } from '../../../declarative/api-server/index.js';
import type { Logger } from '../../../system/logger.js';
import { UsageError } from '../../command-context.js';

/** Options of the server of views. */
export interface ViewServerOptions {
  readonly port: number;
  /** Without keys, a loopback address. */
  readonly host?: string | undefined;
  /** Directory from `declarative keys`: HTTPS with tokens. Absent: plain HTTP for this machine only. */
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
    const remedy = `give ${keysOption}, made by operator-builder declarative keys`;
    throw new UsageError(`HTTP is for this machine only, not for ${host}: ${remedy}`);
  }
  const { ViewApiServer } = await import('../../../declarative/api-server/index.js');
  const { readServerKeys } = await import('./key-files.js');
  const secured = keys === undefined ? {} : await readServerKeys(keys);
  const server = new ViewApiServer({ port, host, logger, ...secured });
  await server.start();
  return server;
}
