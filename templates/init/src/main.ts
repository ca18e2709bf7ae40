// The operator as it is deployed: JSON lines on the standard output, a clean stop on SIGTERM.
import { operator } from './operator.js';

await operator.main();
