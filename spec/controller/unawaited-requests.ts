// A program of its own: Node.js ends it if nothing handles a rejection.
import { request } from 'node:http';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { dryRun } from '../../lib/client/index.js';
import { controllerFor, done } from '../../lib/controller/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';

const origin = 'http://127.0.0.1:59999';
const post = { method: 'POST' } as const;
const { fetch: kept } = globalThis;

const order = async (): Promise<void> => {
  await fetch(origin, post).catch(() => {
    throw new Error('the order failed');
  });
};

const senders = {
  fetch: () => fetch(origin, post).then((response) => response.text()),
  'kept fetch': () => kept(origin, post),
  'another error': order,
  'node:http': () => new Promise((resolve) => request(origin, post, resolve).end()),
};

const cluster = await EmbeddedCluster.start();
const client = dryRun(cluster.client());
const key = { namespace: 'default', name: 'a' };

const plan = async (name: string, send: () => Promise<unknown>): Promise<void> => {
  const controller = controllerFor(ConfigMap).complete(() => {
    void send();
    return Promise.resolve(done());
  });
  const planned = controller.reconcileOnce({ key, client, planning: true });
  const error = await planned.then(
    () => new Error('it was planned'),
    (thrown: unknown) => thrown as Error & { readonly code: string },
  );
  const cause = error.cause instanceof Error ? error.cause.message : '';
  const code = 'code' in error ? error.code : error.message;
  process.stdout.write(`${name}: ${code} because of ${cause.split(` ${origin}`)[0]}\n`);
};

for (const [name, send] of Object.entries(senders)) await plan(name, send);
process.on('uncaughtException', ({ message }) => {
  process.stdout.write(`another rejection: ${message}\n`);
  process.exit();
});
void Promise.reject(new Error('ends the process'));
