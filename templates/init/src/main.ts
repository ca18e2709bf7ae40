// Entry point of the deployed operator: logs JSON lines to standard output, and stops cleanly on SIGTERM.
import { operator } from './operator.js';

await operator.main();
