import { EmbeddedApiServer } from '../lib/apiserver/internal.js';

// Runs an embedded server in a separate process, so that server and client do not share one core. Prints its
// URL. It exits when stdin closes, which also happens if its parent dies.
const server = new EmbeddedApiServer();
process.stdout.write(`${await server.listen()}\n`);
process.stdin.on('end', () => process.exit(0));
process.stdin.resume();
