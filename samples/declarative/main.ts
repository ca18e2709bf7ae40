// Runs a declarative operator, and shows its views by kubectl: `npm run declarative -- service-health`. Needs
// kubectl, but no cluster.
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pinoLogger } from 'operator-builder';
import { EmbeddedCluster } from 'operator-builder/apiserver';
import {
  DeclarativeManager,
  DeclarativeOperator,
  ViewApiServer,
} from 'operator-builder/declarative';
import type { Client, CustomResourceDefinition } from 'operator-builder';
import { Narrator } from '../demo/narrator.js';
import { Kubectl } from './kubectl.js';
import { applyAll, loadSample, sampleNames } from './sample.js';
import type { Sample, SampleName, SampleView } from './sample.js';

/** Time for which the views are watched before the change, and again after it. */
const watchedMs = 1_500;

async function main(): Promise<void> {
  const { positionals } = parseArgs({ options: {}, allowPositionals: true });
  const sample = await loadSample(nameOf(positionals));
  const cluster = await EmbeddedCluster.start({
    simulateWorkloads: true,
    crds: sample.definitions as unknown as CustomResourceDefinition[],
  });
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt);
  try {
    await show(sample, cluster, stop);
  } finally {
    process.removeListener('SIGINT', interrupt);
    stop.abort();
    await cluster.stop();
  }
}

function nameOf(words: readonly string[]): SampleName {
  const [word = 'service-health', ...more] = words;
  const name = sampleNames.find((each) => each === word);
  if (name !== undefined && more.length === 0) return name;
  throw new Error(`${words.join(' ')}: want one of ${sampleNames.join(', ')}`);
}

async function show(
  sample: Sample,
  cluster: EmbeddedCluster,
  stop: AbortController,
): Promise<void> {
  const logger = pinoLogger({ level: 'warn', destination: process.stderr });
  const client = cluster.client({ user: 'declarative' });
  const manager = await DeclarativeManager.create({ client, logger });
  const apiServer = new ViewApiServer({ port: 0 });
  const operator = await DeclarativeOperator.fromFile(sample.name, manager, sample.path, {
    apiServer,
  });
  await apiServer.start(stop.signal);
  const running = operator.start(stop.signal);
  const kubectl = await Kubectl.for(apiServer.url);
  try {
    await Promise.race([tell({ sample, cluster, operator, kubectl }), running]);
  } finally {
    stop.abort();
    await running;
    await kubectl.close();
  }
}

interface Scene {
  readonly sample: Sample;
  readonly cluster: EmbeddedCluster;
  readonly operator: DeclarativeOperator;
  readonly kubectl: Kubectl;
}

async function tell({ sample, cluster, operator, kubectl }: Scene): Promise<void> {
  const narrator = new Narrator(process.stdout);
  narrator.title('operator-builder: declarative operators', sample.name);
  const you = cluster.client({ user: 'you' });
  await applyAll(you, sample.objects);
  await cluster.settled();
  await operator.whenSynced();
  for (const view of sample.views) {
    narrator.chapter(`The views of kind ${view.kind}`, `kubectl get ${view.kind.toLowerCase()} -A`);
    narrator.block(await kubectl.run(...getting(sample, view)));
  }
  const last = sample.views.at(-1);
  if (last === undefined) return;
  narrator.chapter(
    `${last.kind}, while change.yaml is applied`,
    `kubectl get ${last.kind.toLowerCase()} -A --watch`,
  );
  const watching = new AbortController();
  const watched = (async () => {
    const lines = kubectl.follow(watching.signal, ...getting(sample, last), '--watch');
    for await (const line of lines) narrator.block(line);
  })();
  try {
    await Promise.race([changed(you, sample, cluster), watched]);
  } finally {
    watching.abort();
    await watched;
  }
}

function getting(sample: Sample, { kind, columns }: SampleView): string[] {
  // Includes the group, since another operator may have views of the same kind.
  const resource = `${kind.toLowerCase()}.${sample.name}.view.dcontroller.io`;
  return ['get', resource, '-A', '--output', `custom-columns=${columns}`];
}

async function changed(you: Client, sample: Sample, cluster: EmbeddedCluster): Promise<void> {
  // Shows the initial state first, so that the reader sees the difference.
  await delay(watchedMs);
  await applyAll(you, sample.change, 'change');
  await cluster.settled();
  await delay(watchedMs);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
