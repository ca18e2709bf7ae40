// The operator as it is deployed: JSON lines on the standard output, a clean stop on SIGTERM.
import { Manager, defaultClient, operatorWebhooks, pinoLogger } from 'operator-builder';
import { readCommandLine, usage } from './command-line.js';
import { metricsOptions } from './metrics.js';
import { operator } from './operator.js';

async function main(): Promise<void> {
  const line = readCommandLine(process.argv.slice(2), process.env);
  if (line.help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const { kubeconfig, namespace, healthPort, leaderElect } = line;
  const { webhookPort: port, webhookCertDir: certificateFolder } = line;
  const logger = pinoLogger({ level: line.logLevel });
  const client = await defaultClient({ path: kubeconfig, logger });
  const manager = new Manager({
    client,
    logger,
    cacheOptions: operator.cacheOptions,
    health: { port: healthPort },
    metrics: metricsOptions(line, client),
    webhooks: line.noWebhooks
      ? undefined
      : operatorWebhooks(operator, { client, namespace, port, certificateFolder, logger }),
    leaderElection: leaderElect ? { name: operator.name, namespace } : undefined,
  });
  try {
    await operator.setup(manager);
    await manager.runUntilSignal();
  } finally {
    await client.close();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
