// Entry point of the deployed operator; `--help` shows its options. The environment variable WATCH_NAMESPACE
// limits it to the tenants of some namespaces, separated by commas.
import { tenantOperator } from './operator.js';

const { WATCH_NAMESPACE = '' } = process.env;
const namespaces = WATCH_NAMESPACE.split(',').filter((name) => name !== '');

await tenantOperator(namespaces).main();
