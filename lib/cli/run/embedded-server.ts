import { EmbeddedCluster } from '../../embedded/index.js';
import type { EmbeddedClusterOptions } from '../../embedded/index.js';
import { asError } from '../../system/as-error.js';
import { OperatorError } from '../../system/operator-error.js';

/** Options of {@link startServer}. */
export interface ServerOptions extends EmbeddedClusterOptions {
  readonly port: number;
}

/**
 * Starts an embedded cluster that listens on a port.
 * @throws OperatorError `ListenFailed`: the port is taken; and the errors of the cluster
 */
export async function startServer({ port, ...options }: ServerOptions): Promise<EmbeddedCluster> {
  const cluster = await EmbeddedCluster.start(options);
  try {
    await cluster.listen(port);
    return cluster;
  } catch (thrown) {
    await cluster.stop();
    const cause = asError(thrown);
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'the port is in use' : cause.message;
    const remedy = 'choose another one by --port, or leave it out for any that is free';
    const message = `the API server can't listen on 127.0.0.1:${port}: ${why} (${remedy})`;
    throw new OperatorError('ListenFailed', message, { cause });
  }
}
