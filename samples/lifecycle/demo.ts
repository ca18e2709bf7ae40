// The life of a system in a terminal: `npm run lifecycle`. No cluster is needed.
import { pinoLogger, systemClock } from 'operator-builder';
import type { Namespace } from 'operator-builder';
import { EmbeddedCluster } from 'operator-builder/apiserver';
import { Narrator } from '../parseable/demo/narrator.js';
import { EventLog } from './demo/event-log.js';
import { RunningOperator } from './demo/running-operator.js';
import { SampleStage } from './demo/stage.js';
import { Story } from './demo/story.js';

const namespace = 'sample-system';

async function main(): Promise<void> {
  const narrator = new Narrator(process.stdout);
  const startMs = systemClock.monotonicMs();
  narrator.title('operator-builder: a lifecycle', 'on an API server inside this process');
  const cluster = await EmbeddedCluster.start({ simulateWorkloads: true });
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt);
  const person = cluster.client({ user: 'you' });
  await person.create<Namespace>({
    ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  });
  const events = new EventLog(narrator);
  const logger = pinoLogger({ level: 'error', destination: process.stderr });
  const client = cluster.client({ user: 'sample-operator' });
  const operator = new RunningOperator({ client, namespace, logger, events });
  try {
    const stage = new SampleStage(person, namespace, stop.signal);
    await new Story({ narrator, stage, operator, events }).tell();
    narrator.title('Summary', `in ${((systemClock.monotonicMs() - startMs) / 1000).toFixed(1)} s`);
    for (const [reason, count] of events.counts) narrator.line('noted', `${count} x ${reason}`);
  } finally {
    process.removeListener('SIGINT', interrupt);
    await operator.stop();
    await cluster.stop();
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
