import type { Client } from '../client/client.js';
import { defaultClient } from '../client/default-client.js';
import { Manager } from '../manager/manager.js';
import type { ManagerOptions } from '../manager/manager-options.js';
import type { OperatorDefinition } from '../manager/operator-definition.js';
import { pinoLogger } from '../system/pino-logger.js';
import type { Logger } from '../system/logger.js';

/** Options of {@link Operator.run}. */
export interface OperatorRunOptions extends Omit<ManagerOptions, 'client' | 'clusters' | 'name'> {
  /** @defaultValue by controller-runtime's rules: `KUBECONFIG`, the Pod's account, `~/.kube/config` */
  readonly client?: Client | undefined;
  /** Stops it. @defaultValue SIGINT and SIGTERM do */
  readonly signal?: AbortSignal | undefined;
}

/** Runs an operator in a manager of its own. */
export async function runOperator(
  operator: OperatorDefinition,
  options: OperatorRunOptions,
): Promise<void> {
  const { client: given, signal, logger = pinoLogger(), ...settings } = options;
  const { client, close } = await clientOf(given, logger);
  try {
    const { name, cacheOptions } = operator;
    const manager = new Manager({ cacheOptions, ...settings, name, client, logger });
    await operator.setup(manager);
    await (signal === undefined ? manager.runUntilSignal() : manager.run(signal));
  } finally {
    await close();
  }
}

async function clientOf(
  given: Client | undefined,
  logger: Logger,
): Promise<{ readonly client: Client; readonly close: () => Promise<void> }> {
  if (given !== undefined) return { client: given, close: () => Promise.resolve() };
  const client = await defaultClient({ logger });
  return { client, close: () => client.close() };
}
