// The operator alone, as one deploys it: JSON lines on standard output, a clean stop on SIGTERM.
import {
  clientFromKubeConfig,
  defaultClient,
  generatedCertificates,
  pinoLogger,
} from 'operator-builder';
import type { Client } from 'operator-builder';
import { readCommandLine, usage } from './command-line.js';
import type { CommandLine } from './command-line.js';
import { runTenantOperator } from './operator.js';
import type { TenantOperatorOptions } from './operator.js';
import { controllerName } from './reconcile-tenant.js';
import { tenantWebhook, webhookName } from './tenant-webhook.js';

async function main(): Promise<void> {
  const line = readCommandLine(process.argv.slice(2), process.env);
  if (line.help) {
    console.log(usage);
    return;
  }
  const { kubeconfig, namespace, onImmutable, maxDeletions } = line;
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
    await runTenantOperator({
      installsCrd: true,
      ...{ client, logger, onImmutable, signal: stop.signal, ...surroundingsOf(line, client) },
      ...(namespace !== undefined && { namespace }),
      ...(maxDeletions !== undefined && { maxDeletions }),
      onReady: () => logger.info('ready'),
    });
    logger.info('stopped');
  } finally {
    await client.close();
  }
}

/** What a deployed operator has beside its controller. */
function surroundingsOf(line: CommandLine, client: Client): Partial<TenantOperatorOptions> {
  const { healthPort, metricsPort, webhookPort, leaderElect, operatorNamespace } = line;
  return {
    rbacPreflight: 'warn',
    ...(healthPort !== undefined && { health: { port: healthPort } }),
    ...(metricsPort !== undefined && { metrics: { port: metricsPort } }),
    ...(leaderElect && {
      leaderElection: { name: controllerName, namespace: operatorNamespace },
    }),
    ...(webhookPort !== undefined && {
      webhooks: {
        ...{ webhooks: [tenantWebhook], port: webhookPort },
        certificates: generatedCertificates({
          client,
          secret: { namespace: operatorNamespace, name: `${webhookName}-webhook` },
          dnsNames: [`${webhookName}-webhook.${operatorNamespace}.svc`, '127.0.0.1'],
          trustedBy: { validating: [webhookName] },
        }),
      },
    }),
  };
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
