import { EmbeddedApiServer } from '../lib/apiserver/internal.js';

// A process of its own, so that server and client do not share one core. It ends with its parent,
// whose end of the pipe closes.
const server = new EmbeddedApiServer();
process.stdout.write(`${await server.listen()}\n`);
process.stdin.on('end', () => process.exit(0));
process.stdin.resume();
