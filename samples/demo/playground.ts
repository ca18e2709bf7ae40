import { parseArgs } from 'node:util';
import { Namespace, clientFromKubeConfig, ensureCrd, pinoLogger } from 'operator-builder';
import type { Client, Operator } from 'operator-builder';
import { EmbeddedCluster } from 'operator-builder/apiserver';
import type { EmbeddedClusterOptions } from 'operator-builder/apiserver';
import { Narrator } from './narrator.js';

/** Options of {@link play}. */
export interface Play {
  readonly title: string;
  /** Namespace to create for the story; it must not exist. @defaultValue none */
  readonly namespace?: string;
  readonly pods?: EmbeddedClusterOptions['pods'];
  readonly story: (playground: Playground) => Promise<void>;
}

/** Everything that a story needs. */
export interface Playground {
  /** Client of the user of the story; on an embedded cluster, the operator is another user. */
  readonly client: Client;
  /** Namespace of the story; empty if it has none. */
  readonly namespace: string;
  readonly narrator: Narrator;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Runs an operator until `work` has ended; its errors go to standard error. */
  readonly run: (operator: Operator, work: () => Promise<unknown>) => Promise<void>;
}

interface Stage {
  readonly where: string;
  readonly person: Client;
  readonly operator: Client;
  readonly embedded?: EmbeddedCluster;
  close(): Promise<void>;
}

const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const;
const options = { kubeconfig: text, namespace: text, keep: flag, help: flag };

/**
 * Runs a story on an embedded or a real cluster, as the command line says. A failure is printed and sets the exit
 * code.
 */
export async function play(it: Play): Promise<void> {
  // A reader may close the pipe early (`| head`): that is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    throw error;
  });
  try {
    const {
      kubeconfig,
      help,
      namespace = it.namespace ?? '',
      keep,
    } = parseArgs({ options }).values;
    if (help === true) {
      console.log(`Options:

  --kubeconfig FILE   play on this cluster instead of an embedded one
  --namespace NAME    where, a new namespace (default: ${it.namespace ?? 'none'})
  --keep              keep what was made; an embedded server goes on until Ctrl-C
  --help              show this`);
      return;
    }
    const stage = await (kubeconfig === undefined ? embeddedStage(it) : realStage(kubeconfig));
    try {
      await playOn(stage, { ...it, namespace }, keep === true);
    } finally {
      await stage.close();
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

async function embeddedStage({ pods }: Play): Promise<Stage> {
  const settings = { simulateWorkloads: true, ...(pods !== undefined && { pods }) };
  const embedded = await EmbeddedCluster.start(settings);
  return {
    where: 'on an API server inside this process: no cluster, no network',
    person: embedded.client({ user: 'you' }),
    operator: embedded.client({ user: 'operator' }),
    ...{ embedded, close: () => embedded.stop() },
  };
}

async function realStage(path: string): Promise<Stage> {
  const client = await clientFromKubeConfig({ path });
  const where = `on the cluster of ${path}`;
  return { where, person: client, operator: client, close: () => client.close() };
}

async function playOn(stage: Stage, it: Play, keep: boolean): Promise<void> {
  const { person: client, embedded, where } = stage;
  const { title, namespace = '' } = it;
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort(new Error('interrupted'));
  const narrator = new Narrator(process.stdout);
  const run: Playground['run'] = (operator, work) => runDuring(operator, stage, work);
  const metadata = { name: namespace };
  if (namespace !== '')
    await client.create<Namespace>({ apiVersion: 'v1', kind: 'Namespace', metadata });
  process.once('SIGINT', interrupt);
  narrator.title(title, where);
  try {
    await it.story({ client, namespace, narrator, signal: interrupted.signal, run });
  } finally {
    process.removeListener('SIGINT', interrupt);
    if (!keep && namespace !== '') await client.delete(Namespace, metadata);
  }
  if (keep && embedded !== undefined) await keepServing(embedded, namespace);
}

async function runDuring(operator: Operator, stage: Stage, work: () => Promise<unknown>) {
  for (const { crd } of operator.resources) await ensureCrd(stage.person, crd);
  const stop = new AbortController();
  const logger = pinoLogger({ level: 'error', destination: process.stderr });
  const running = operator.run({ client: stage.operator, signal: stop.signal, logger });
  try {
    await Promise.race([work(), running]);
  } finally {
    stop.abort();
    await running;
  }
}

/** Keeps an embedded server running for kubectl until a signal, and prints the command to use. */
async function keepServing(cluster: EmbeddedCluster, namespace: string): Promise<void> {
  await cluster.listen();
  await cluster.writeKubeConfig('kubeconfig');
  console.log(`\nThe server goes on at ${cluster.url} until Ctrl-C. Look around:`);
  console.log(`  kubectl --kubeconfig kubeconfig get all,configmaps,events -n ${namespace}`);
  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
}
