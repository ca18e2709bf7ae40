// Our operator of the fleet bench: `operator-builder.ts --namespace NS [--elect] [--workers N]`.
import { parseArgs } from 'node:util';
import { clientFromKubeConfig, pinoLogger } from '../built.js';
import { shipOperator } from '../fleet/ship-operator.js';

const { values } = parseArgs({
  options: {
    namespace: { type: 'string', default: 'default' },
    workers: { type: 'string', default: '8' },
    elect: { type: 'boolean', default: false },
  },
});
const { namespace } = values;
await shipOperator({ workers: Number(values.workers) }).run({
  client: await clientFromKubeConfig({ path: process.env['KUBECONFIG'] ?? '' }),
  logger: pinoLogger({ level: 'error' }),
  cacheOptions: { namespaces: [namespace] },
  leaderElection: values.elect ? { namespace, name: 'bench' } : false,
});
