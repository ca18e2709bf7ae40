// The operator alone, as one deploys it: JSON lines on standard output, a clean stop on SIGTERM.
import { clientFromKubeConfig, defaultClient, pinoLogger } from 'operator-builder';
import { readCommandLine, usage } from './command-line.js';
import { operatorName, runSampleOperator } from './operator.js';

async function main(): Promise<void> {
  const line = readCommandLine(process.argv.slice(2), process.env);
  if (line.help) {
    console.log(usage);
    return;
  }
  const { kubeconfig, namespace, release, healthPort, metricsPort, leaderElect } = line;
  const logger = pinoLogger({ level: line.logLevel });
  const client = await (kubeconfig === undefined
    ? defaultClient({ logger })
    : clientFromKubeConfig({ path: kubeconfig, logger }));
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      logger.info('stopping', { signal });
      stop.abort();
    });
  }
  try {
    await runSampleOperator({
      ...{ client, logger, namespace, version: release, signal: stop.signal },
      rbacPreflight: 'warn',
      ...(healthPort !== undefined && { health: { port: healthPort } }),
      ...(metricsPort !== undefined && { metrics: { port: metricsPort } }),
      ...(leaderElect && { leaderElection: { name: operatorName, namespace } }),
      onReady: () => logger.info('ready', { release }),
    });
    logger.info('stopped');
  } finally {
    await client.close();
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
