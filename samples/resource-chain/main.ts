// The life of a site in a terminal: `npm run resource-chain`. No cluster is needed.
import { parseArgs } from 'node:util';
import { pinoLogger, systemClock } from 'operator-builder';
import { EmbeddedCluster } from 'operator-builder/apiserver';
import { Narrator } from '../demo/narrator.js';
import { SiteStage } from './demo/stage.js';
import { Story } from './demo/story.js';
import { runSiteOperator } from './operator.js';
import { FakeRegistry } from './registry.js';

// Long enough to see that the site waits for it.
const releaseMs = 1_500;

async function main(): Promise<void> {
  // It takes none: whatever is given is a mistake.
  parseArgs({ options: {} });
  const narrator = new Narrator(process.stdout);
  narrator.title('operator-builder: resource chains', 'on an API server inside this process');
  const cluster = await EmbeddedCluster.start({ simulateWorkloads: true });
  const registry = new FakeRegistry(systemClock, releaseMs);
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt);
  let running = Promise.resolve();
  const ready = new Promise<void>((resolve) => {
    running = runSiteOperator({
      ...{ client: cluster.client({ user: 'site-operator' }), registry, signal: stop.signal },
      logger: pinoLogger({ level: 'warn', destination: process.stderr }),
      onReady: resolve,
    });
  });
  try {
    await Promise.race([ready, running]);
    const stage = new SiteStage(cluster.client({ user: 'you' }), 'blog', stop.signal);
    await new Story({ narrator, stage, registry }).tell();
  } finally {
    process.removeListener('SIGINT', interrupt);
    stop.abort();
    await running;
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
