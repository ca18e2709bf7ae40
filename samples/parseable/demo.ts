// The Parseable operator's story in a terminal: `npm run demo`. No cluster is needed.
import { parseArgs } from 'node:util';
import {
  Namespace,
  OperatorEvents,
  clientFromKubeConfig,
  isAlreadyExists,
  pinoLogger,
  systemClock,
} from 'operator-builder';
import type { Client } from 'operator-builder';
import { EmbeddedCluster } from 'operator-builder/apiserver';
import { Narrator } from './demo/narrator.js';
import { Story } from './demo/story.js';
import { tellSummary } from './demo/summary.js';
import { installCrd, runTenantOperator } from './operator.js';
import { ParseableTenant } from './tenant.js';

const usage = `Usage: npm run demo -- [options]

  --kubeconfig FILE   play on this cluster instead of an embedded one
  --namespace NAME    where (default: parseable-demo)
  --keep              keep what was made; an embedded server goes on until Ctrl-C
  --help              show this`;

/** A cluster to play on. */
interface Stage {
  readonly title: string;
  /** The person at the keyboard, and the operator. */
  readonly person: Client;
  readonly operator: Client;
  readonly embedded?: EmbeddedCluster;
  close(): Promise<void>;
}

async function embeddedStage(): Promise<Stage> {
  const embedded = await EmbeddedCluster.start({
    simulateWorkloads: true,
    // Slow enough to watch the pods follow each other.
    pods: { runningAfterMs: 60, readyAfterMs: 180, terminatedAfterMs: 80 },
  });
  return {
    title: 'on an API server inside this process: no cluster, no network',
    person: embedded.client({ user: 'you' }),
    operator: embedded.client({ user: 'parseable-operator' }),
    embedded,
    close: () => embedded.stop(),
  };
}

async function realStage(path: string): Promise<Stage> {
  const client = await clientFromKubeConfig({ path });
  return {
    title: `on the cluster of ${path}`,
    person: client,
    operator: client,
    close: () => client.close(),
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      kubeconfig: { type: 'string' },
      namespace: { type: 'string', default: 'parseable-demo' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const { kubeconfig, namespace, keep } = values;
  const stage = await (kubeconfig === undefined ? embeddedStage() : realStage(kubeconfig));
  try {
    const made = await makeNamespace(stage.person, namespace);
    try {
      await play(stage, namespace);
      if (keep) await keepServing(stage);
    } finally {
      if (!keep) await cleanUp(stage.person, namespace, made);
    }
  } finally {
    await stage.close();
  }
}

/** @returns whether it was made; what was there before is never deleted. */
async function makeNamespace(client: Client, name: string): Promise<boolean> {
  try {
    await client.create<Namespace>({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    return true;
  } catch (error) {
    if (isAlreadyExists(error)) return false;
    throw error;
  }
}

async function cleanUp(client: Client, namespace: string, made: boolean): Promise<void> {
  if (made) await client.delete(Namespace, { name: namespace });
  else await client.delete(ParseableTenant, { name: 'ordered', namespace });
}

async function play(stage: Stage, namespace: string): Promise<void> {
  const narrator = new Narrator(process.stdout);
  const startMs = systemClock.monotonicMs();
  narrator.title('operator-builder: the Parseable operator', stage.title);
  const emitter = new OperatorEvents();
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt);
  await installCrd(stage.operator);
  const logger = pinoLogger({ level: 'error', destination: process.stderr });
  const settings = { client: stage.operator, signal: stop.signal, emitter, namespace, logger };
  let running = Promise.resolve();
  const ready = new Promise<void>((resolve) => {
    running = runTenantOperator({ ...settings, onReady: resolve });
  });
  try {
    await Promise.race([ready, running]);
    const options = { client: stage.person, emitter, narrator, namespace, signal: stop.signal };
    const summary = await new Story(options).tell();
    tellSummary(narrator, summary, systemClock.monotonicMs() - startMs);
  } finally {
    process.removeListener('SIGINT', interrupt);
    stop.abort();
    await running;
  }
}

/** Keeps an embedded server up for kubectl, and says how to reach it. */
async function keepServing({ embedded }: Stage): Promise<void> {
  if (embedded === undefined) return;
  await embedded.listen();
  const path = 'kubeconfig';
  await embedded.writeKubeConfig(path);
  console.log(`\nThe server goes on at ${embedded.url} until Ctrl-C. Look around:`);
  console.log(`  kubectl --kubeconfig ${path} get parseabletenants,all,configmaps -A`);
  console.log(`  kubectl --kubeconfig ${path} get events -n parseable-demo`);
  console.log(`  npm run parseable -- --kubeconfig ${path}`);
  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
}

// Whoever reads only the beginning (`| head`) has heard enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
