import { isLoopback } from '../../../manager/inspector/inspector-options.js';
import type { ViewApiServer } from '../../../declarative/api-server/index.js';
import type { Logger } from '../../../system/logger.js';
import { UsageError } from '../../usage-error.js';

/** How views are served. */
export interface ViewServerOptions {
  readonly port: number;
  /** Without keys an address of loopback. */
  readonly host?: string | undefined;
  /** What `declarative keys` made: HTTPS and tokens. Absent: HTTP, for whoever is on this machine. */
  readonly keys?: string | undefined;
  /** What the option of the keys is called. */
  readonly keysOption: string;
}

/**
 * Starts to serve views. @returns the server, which listens
 * @throws UsageError others could reach it, and there are no keys
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
