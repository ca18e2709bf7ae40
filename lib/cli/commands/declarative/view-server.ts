import type { ViewApiServer } from '../../../declarative/api-server/index.js';
import type { Logger } from '../../../system/logger.js';

/** How views are served. */
export interface ViewServerOptions {
  readonly port: number;
  /** Without keys an address of loopback. */
  readonly host?: string | undefined;
  /** What `declarative keys` made: HTTPS and tokens. Absent: HTTP, for whoever is on this machine. */
  readonly keys?: string | undefined;
}

/**
 * Starts to serve views. @returns the server, which listens
 * @throws OperatorError `InvalidConfig`: a key can't be read; `ListenFailed`: the port is taken
 */
export async function startViewServer(
  { port, host, keys }: ViewServerOptions,
  logger: Logger,
): Promise<ViewApiServer> {
  const { ViewApiServer } = await import('../../../declarative/api-server/index.js');
  const { readServerKeys } = await import('./key-files.js');
  const secured = keys === undefined ? {} : await readServerKeys(keys);
  const server = new ViewApiServer({ port, host, logger, ...secured });
  await server.start();
  return server;
}
