import { ConfigMap, done, Operator } from '../../lib/index.js';

// An operator that runs as in a Pod, and reviews its access at the start.
const operator = new Operator('reviewing');
operator.for(ConfigMap).reconciles(async () => done());
await operator.main(process.argv.slice(2));
