// The life of a system in a terminal: `npm run lifecycle`. No cluster is needed.
import { parseArgs } from 'node:util';
import { Namespace, clientFromKubeConfig, pinoLogger, systemClock } from 'operator-builder';
import type { Client } from 'operator-builder';
import { EmbeddedCluster } from 'operator-builder/apiserver';
import { Narrator } from '../parseable/demo/narrator.js';
import { EventLog } from './demo/event-log.js';
import { RunningOperator } from './demo/running-operator.js';
import { SampleStage } from './demo/stage.js';
import { Story } from './demo/story.js';

const namespace = 'sample-system';

const usage = `Usage: npm run lifecycle -- [options]

  --kubeconfig FILE   play on this cluster instead of an embedded one, in the namespace ${namespace}
  --help              show this`;

/** A cluster to play on. */
interface Playground {
  readonly title: string;
  /** The person at the keyboard, and the operator. */
  readonly person: Client;
  readonly operator: Client;
  close(): Promise<void>;
}

async function embeddedPlayground(): Promise<Playground> {
  const cluster = await EmbeddedCluster.start({ simulateWorkloads: true });
  return {
    title: 'on an API server inside this process: no cluster, no network',
    person: cluster.client({ user: 'you' }),
    operator: cluster.client({ user: 'sample-operator' }),
    close: () => cluster.stop(),
  };
}

async function realPlayground(path: string): Promise<Playground> {
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
    options: { kubeconfig: { type: 'string' }, help: { type: 'boolean', default: false } },
  });
  const { kubeconfig, help } = values;
  if (help) {
    console.log(usage);
    return;
  }
  const playground = await (kubeconfig === undefined
    ? embeddedPlayground()
    : realPlayground(kubeconfig));
  const { person } = playground;
  try {
    // Where it is there already, it is somebody's: nothing is played there.
    await person.create<Namespace>({
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    });
    try {
      await play(playground);
    } finally {
      await person.delete(Namespace, { name: namespace });
    }
  } finally {
    await playground.close();
  }
}

async function play({ title, person, operator: client }: Playground): Promise<void> {
  const narrator = new Narrator(process.stdout);
  const startMs = systemClock.monotonicMs();
  narrator.title('operator-builder: a lifecycle', title);
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt);
  const events = new EventLog(narrator);
  const logger = pinoLogger({ level: 'error', destination: process.stderr });
  const operator = new RunningOperator({ client, namespace, logger, events });
  try {
    const stage = new SampleStage(person, namespace, stop.signal);
    await new Story({ narrator, stage, operator, events }).tell();
    narrator.title('Summary', `in ${((systemClock.monotonicMs() - startMs) / 1000).toFixed(1)} s`);
    for (const [reason, count] of events.counts) narrator.line('noted', `${count} x ${reason}`);
  } finally {
    process.removeListener('SIGINT', interrupt);
    await operator.stop();
  }
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
