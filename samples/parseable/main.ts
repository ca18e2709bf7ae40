// The operator alone, as one deploys it: `--help` shows its options. WATCH_NAMESPACE limits it to the
// tenants of some namespaces, as a list with commas.
import { tenantOperator } from './operator.js';

const { WATCH_NAMESPACE = '' } = process.env;
const namespaces = WATCH_NAMESPACE.split(',').filter((name) => name !== '');

await tenantOperator(namespaces).main();
