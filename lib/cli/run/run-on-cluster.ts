import { OperatorFeed } from '../../feed/index.js';
import type { NewsLines } from '../../feed/index.js';
import { clusterClient, clusterName } from '../options/cluster-options.js';
import type { LoadedProject } from '../project/load-operator.js';
import { installCrds, refuseUnserved } from './custom-resources.js';
import type { InstalledCrd } from './custom-resources.js';
import { keepRunning } from './keep-running.js';
import { keptRunning, managerOptions } from './run-operator.js';
import type { Running } from './run-operator.js';

/** Runs an operator on the cluster of a kubeconfig, and prints its actions there. */
export async function runOnCluster(running: Running): Promise<void> {
  const { options, context, first, logger } = running;
  const client = await clusterClient(options, context, logger);
  try {
    const feed = new OperatorFeed(context);
    const { lines, onEvent } = feed;
    const { name: operator } = first.operator;
    const cluster = await clusterName(options, context);
    feed.sayHead({ operator, cluster, namespaces: options.namespace });
    const seen = feed.observed(client);
    let isFirst = true;
    await keepRunning(first, {
      ...keptRunning(running),
      managerOptions: (loaded) => ({
        ...managerOptions(running, { client: seen, loaded }),
        onEvent,
      }),
      prepare: async (loaded) => {
        feed.use(loaded.operator.resources ?? []);
        sayCrds(await servedCrds(loaded, { ...running, client }), { lines, isFirst });
        if (isFirst) sayWebhooks(running, lines);
        isFirst = false;
      },
      onBegin: ({ manager }) => {
        const started = manager.whenStarted(running.signal).then(() => lines.say('started'));
        // The run reports why it did not start.
        void started.catch(() => undefined);
      },
    });
  } finally {
    await client.close();
  }
}

interface OnCluster extends Running {
  readonly client: Awaited<ReturnType<typeof clusterClient>>;
}

/** A CustomResourceDefinition in the cluster; `served`: it existed and was not compared. */
type ServedCrd = Omit<InstalledCrd, 'action'> & {
  readonly action: InstalledCrd['action'] | 'served';
};

async function servedCrds(
  { operator }: LoadedProject,
  { options, client, signal }: OnCluster,
): Promise<readonly ServedCrd[]> {
  const crds = (operator.resources ?? []).map(({ crd }) => crd);
  if (options.installCrds === true) return installCrds(client, crds, signal);
  await refuseUnserved(client, operator, signal);
  return crds.map(({ metadata }) => ({ name: metadata.name ?? '', action: 'served' }));
}

interface Saying {
  readonly lines: NewsLines;
  readonly isFirst: boolean;
}

/** Prints the definitions; at a restart only changed ones. */
function sayCrds(crds: readonly ServedCrd[], { lines, isFirst }: Saying): void {
  const shown = crds.filter(({ action }) => isFirst || /^(?:installed|updated)$/.test(action));
  if (shown.length === 0) return;
  const texts = shown.map(({ name, action }) => `${name} (${action})`);
  lines.say(`CustomResourceDefinitions: ${texts.join(', ')}`);
}

function sayWebhooks({ options, first }: Running, lines: NewsLines): void {
  const { webhooks = [] } = first.operator;
  const { webhookCerts, webhookPort = 9443 } = options;
  if (webhooks.length > 0) {
    const remedy = 'serve them by --webhook-certs <folder>, or try them by --embedded';
    lines.say(
      webhookCerts === undefined
        ? `webhooks: ${webhooks.length} declared, not served; ${remedy}`
        : `webhooks: ${webhooks.length} served on port ${webhookPort}`,
    );
  }
  lines.say('');
}
