// Records what a real API server says of the expressions of the table:
//   tsx spec/crd/record.ts <kubeconfig>
import { writeFileSync } from 'node:fs';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import { systemRandom } from '../../lib/system/random.js';
import { serverVerdicts } from './suite/cel-verdicts.js';

async function main(path: string): Promise<void> {
  const client = await clientFromKubeConfig({ path });
  try {
    const group = `cel-${systemRandom.uuid().slice(0, 8)}.example.com`;
    const verdicts = await serverVerdicts(client, group);
    const file = new URL('recorded/cel-verdicts.json', import.meta.url);
    writeFileSync(file, `${JSON.stringify(verdicts, undefined, 2)}\n`);
  } finally {
    await client.close();
  }
}

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('usage: record.ts <kubeconfig>');
await main(path);
