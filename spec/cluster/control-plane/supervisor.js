/**
 * The process between a test run and its control plane. It ends every program and removes their
 * folder as soon as the channel to its parent closes, which it does even when the parent is killed
 * by SIGKILL. It also answers the API server's TokenReviews, so that users can be added while the
 * server runs: in here, because a parent that waits for kubectl synchronously could not answer.
 *
 * JavaScript, not TypeScript: it runs without tsx, which would cost 0.3 s and 40 MB.
 *
 * Arguments: the folder to remove, the port for TokenReviews.
 */
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import process from 'node:process';
import { setTimeout } from 'node:timers';

const [folder, port] = process.argv.slice(2);
// Running programs: name to ChildProcess.
const children = new Map();
// Token to { username, groups }.
const users = new Map();

const handlers = {
  start({ name, command, args, log }) {
    const output = openSync(log, 'a');
    const child = spawn(command, args, { cwd: folder, stdio: ['ignore', output, output] });
    closeSync(output);
    children.set(name, child);
    child.on('error', (error) => report({ exited: name, reason: error.message }));
    child.on('exit', (code, signal) => {
      if (children.get(name) === child) children.delete(name);
      report({ exited: name, reason: String(signal ?? code) });
    });
    return child.pid;
  },
  signal({ name, signal }) {
    return children.get(name)?.kill(signal) ?? false;
  },
  user({ token, username, groups }) {
    users.set(token, { username, groups });
  },
};

function report(message) {
  if (process.connected) process.send(message);
}

function end() {
  for (const child of children.values()) child.kill('SIGKILL');
  if (children.size > 0) {
    setTimeout(end, 10);
    return;
  }
  rmSync(folder, { recursive: true, force: true });
  process.exit();
}

// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#webhook-token-authentication
function review({ apiVersion, kind, spec }) {
  const user = users.get(spec.token);
  return { apiVersion, kind, status: user ? { authenticated: true, user } : {} };
}

async function answerTokenReview(request, response) {
  const chunks = await request.toArray();
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(review(JSON.parse(Buffer.concat(chunks).toString()))));
}

process.on('message', ({ id, type, ...message }) => {
  report({ id, result: handlers[type](message) });
});
process.on('disconnect', end);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);

createServer((request, response) => {
  answerTokenReview(request, response).catch(() => response.writeHead(400).end());
}).listen(Number(port), '127.0.0.1');
