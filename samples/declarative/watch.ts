// Watches a view of a running operator: `node --import tsx samples/declarative/watch.ts views.kubeconfig`.
import { clientFromKubeConfig } from 'operator-builder';
import { watchHealth } from './health-watch.js';

async function main(): Promise<void> {
  const [path = 'views.kubeconfig'] = process.argv.slice(2);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const client = await clientFromKubeConfig({ path });
  await watchHealth(client, (line) => console.log(line), stop.signal);
  await client.close();
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
