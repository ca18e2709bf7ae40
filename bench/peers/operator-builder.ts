// Program that runs the operator of the fleet bench, written with this package: `operator-builder.ts --namespace NS
// [--elect] [--workers N]`.
import { parseArgs } from 'node:util';
import { shipOperator } from '../fleet/ship-operator.js';

const { values } = parseArgs({
  options: {
    namespace: { type: 'string', default: 'default' },
    workers: { type: 'string', default: '8' },
    elect: { type: 'boolean', default: false },
  },
});
const { namespace } = values;
const args = ['--namespace', namespace, ...(values.elect ? ['--leader-elect'] : [])];
await shipOperator({ workers: Number(values.workers) }).main(args, {
  cacheOptions: { namespaces: [namespace] },
  logFormat: 'json',
});
