// Records the verdicts of a real API server on the tables of this folder:
//   tsx spec/crd/record.ts <kubeconfig>
import { writeFileSync } from 'node:fs';
import chunk from 'lodash/chunk.js';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import { systemRandom } from '../../lib/system/random.js';
import { roomyExpressions } from './suite/cost-cases.js';
import { serverCosts, tellingCount } from './suite/cost-verdicts.js';
import { warningsOf } from './suite/warning-scene.js';
import { celChunk, serverVerdicts } from './suite/cel-verdicts.js';
import { featureVerdicts } from './suite/recordings.js';
import edgeVerdicts from './recorded/cel-edge-verdicts.json' with { type: 'json' };

async function main(path: string): Promise<void> {
  const client = await clientFromKubeConfig({ path });
  try {
    const group = `cel-${systemRandom.uuid().slice(0, 8)}.example.com`;
    write('cel-verdicts', await serverVerdicts(client, group));
    const edges: Record<string, string> = {};
    // The expressions are the keys of the recorded file.
    for (const [index, some] of chunk(Object.keys(edgeVerdicts), celChunk).entries()) {
      Object.assign(edges, await serverVerdicts(client, `edges-${index}.${group}`, some));
    }
    write('cel-edge-verdicts', edges);
    write('feature-verdicts', await featureVerdicts(client, group));
    const counts = new Map(roomyExpressions.map((one) => [one, tellingCount(one)]));
    write('warnings', await warningsOf((logger) => clientFromKubeConfig({ path, logger }), group));
    write('cost-verdicts', await serverCosts(client, group, counts));
  } finally {
    await client.close();
  }
}

function write(name: string, recorded: object): void {
  const file = new URL(`recorded/${name}.json`, import.meta.url);
  writeFileSync(file, `${JSON.stringify(recorded, undefined, 2)}\n`);
}

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('usage: record.ts <kubeconfig>');
await main(path);
