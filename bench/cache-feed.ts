// Serves the ConfigMaps of the cache bench from an embedded server, or creates them on the server of
// KUBECONFIG. It prints its kubeconfig, then an answer for each command on stdin; each is a line of JSON.
// It exits when stdin closes.
import { createInterface } from 'node:readline';
import { readFile } from 'node:fs/promises';
import { EmbeddedApiServer } from '../lib/apiserver/internal.js';
import { clientFromKubeConfig, createClient } from '../lib/client/index.js';
import type { Client } from '../lib/client/index.js';
import { ConfigMap, Namespace } from '../lib/object/kinds.js';
import { kubeConfigOf } from './api-server-process.js';

interface Command {
  readonly do: 'fill' | 'churn' | 'clean';
  readonly namespace: string;
  readonly count: number;
  /** Number of objects that a churn changes in rotation. @defaultValue 1 */
  readonly objects?: number;
  /** Events per second. */
  readonly rate?: number;
}

const writers = 16;

interface Connected {
  readonly client: Client;
  readonly kubeConfig: string;
  /** Creates an object; on the embedded server directly, without HTTP. */
  readonly create: (object: ConfigMap) => Promise<unknown>;
}

async function connect(): Promise<Connected> {
  const path = process.env['KUBECONFIG'] ?? '';
  if (path !== '') {
    const client = await clientFromKubeConfig({ path });
    const kubeConfig = await readFile(path, 'utf8');
    return { client, kubeConfig, create: (object) => client.create(object) };
  }
  const server = new EmbeddedApiServer();
  const url = await server.listen();
  const client = createClient({ transport: server.transport() });
  const create = (object: ConfigMap): Promise<unknown> =>
    server.loopback.create(object, { manager: 'bench' });
  return { client, kubeConfig: kubeConfigOf(url), create };
}

function configMap(namespace: string, n: number): ConfigMap {
  const labels = { app: `app-${n % 100}`, 'app.kubernetes.io/managed-by': 'bench' };
  const metadata = { name: `c-${n}`, namespace, labels };
  const data = { key: 'x'.repeat(200), at: String(process.hrtime.bigint()) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

/** Calls `run` with 0 to `count` - 1, {@link writers} calls at a time. */
async function each(count: number, run: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: writers }, worker));
}

async function carryOut({ client, create }: Connected, command: Command): Promise<object> {
  const { namespace, count, objects = 1, rate = Infinity } = command;
  const startMs = performance.now();
  switch (command.do) {
    case 'fill':
      await client.create<Namespace>({
        ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      });
      await each(count, (n) => create(configMap(namespace, n)));
      break;
    case 'churn':
      await each(count, async (n) => {
        const earlyMs = startMs + (n / rate) * 1_000 - performance.now();
        if (earlyMs > 1) await new Promise((resolve) => setTimeout(resolve, earlyMs));
        // Lets the sockets of an embedded server send: its writes in this process involve no I/O.
        else await new Promise(setImmediate);
        const body = { data: configMap(namespace, 0).data };
        const name = `c-${n % objects}`;
        await client.patch(ConfigMap, { namespace, name }, { type: 'merge', body });
      });
      break;
    case 'clean':
      await client.delete(Namespace, { name: namespace });
  }
  return { perSecond: count / ((performance.now() - startMs) / 1_000) };
}

const connected = await connect();
process.stdout.write(`${JSON.stringify({ kubeConfig: connected.kubeConfig })}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const answer = await carryOut(connected, JSON.parse(line) as Command);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0);
