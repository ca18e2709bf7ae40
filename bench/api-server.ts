// The embedded API server beside a real one: etcd and kube-apiserver.
import { KubeConfig } from '@kubernetes/client-node';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import type { ConnectedClient } from '../lib/client/index.js';
import type { Client } from '../lib/index.js';
import { startControlPlane } from '../spec/cluster/control-plane/index.js';
import { startApiServerCommand } from './api-server-process.js';
import { ratioOf, rowOf } from './bench-result.js';
import type { BenchResult } from './bench-result.js';
import { clientFromKubeConfig } from './built.js';
import { EmbeddedCluster } from './built-embedded.js';
import { flag } from './sides.js';

const rounds = 5;
const concurrency = 16;
const labels = {
  inProcess: 'embedded, in the process',
  embedded: 'embedded, over HTTPS',
  real: 'kube-apiserver and etcd',
} as const;

/** One of the two servers, each in processes of its own. */
interface Server {
  readonly label: string;
  readonly client: ConnectedClient;
  /** Processes of the server. */
  readonly pids: readonly number[];
  /** Sends a GET request over a connection that is kept open. */
  open(path: string): Promise<IncomingMessage>;
}

/** Measures the time until a server accepts requests. */
export async function benchServerStart(): Promise<readonly BenchResult[]> {
  const measured = { import: [], start: [], command: [], real: [] } as Record<string, number[]>;
  for (let round = 0; round < rounds; round++) {
    const { importMs, startMs } = await startInProcess();
    measured['import']?.push(importMs);
    measured['start']?.push(startMs);
    const command = await timed(() => startApiServerCommand());
    command.value.stop();
    measured['command']?.push(command.ms);
    const real = await timed(() => startControlPlane());
    await real.value.stop();
    measured['real']?.push(real.ms);
  }
  const { command = [], real = [] } = measured;
  return [
    {
      name: 'start of an API server',
      unit: 'ms',
      rows: [
        rowOf('import of operator-builder/apiserver', measured['import'] ?? []),
        rowOf('EmbeddedCluster.start() after the import', measured['start'] ?? []),
        rowOf('operator-builder apiserver, until ready', command),
        rowOf('etcd and Kubernetes binaries, until ready', real),
      ],
      ratio: ratioOf('binaries to operator-builder apiserver', real, command),
    },
  ];
}

async function startInProcess(): Promise<{ importMs: number; startMs: number }> {
  const module = JSON.stringify(new URL('../dist/apiserver/index.js', import.meta.url).href);
  const script = `
    const begin = performance.now();
    const { EmbeddedCluster } = await import(${module});
    const imported = performance.now();
    const cluster = await EmbeddedCluster.start();
    const startMs = performance.now() - imported;
    await cluster.stop();
    console.log(JSON.stringify({ importMs: imported - begin, startMs }));`;
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as { importMs: number; startMs: number };
}

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const begin = performance.now();
  const value = await work();
  return { ms: performance.now() - begin, value };
}

/** Measures creations of ConfigMaps with 400 bytes, lists of 5,000 of them, and events to 100 watches. */
export async function benchServerRequests(): Promise<readonly BenchResult[]> {
  return withServers(async (servers) => [
    await measureWrites(servers),
    await measureLists(servers),
    await measureWatches(servers),
  ]);
}

async function measureWrites(servers: readonly Server[]): Promise<BenchResult> {
  const cluster = await EmbeddedCluster.start();
  try {
    const sides = [{ label: labels.inProcess, client: cluster.client() }, ...servers];
    // Warms up without measuring, because V8 optimizes the code of the embedded server while it runs.
    for (const [side, { client }] of sides.entries()) {
      const namespace = await newNamespace(client, `warm-${side}`);
      await createConfigMaps(client, { namespace, count: 3_000 });
    }
    const measured = await inRounds(sides, async ({ client }, round) => {
      const namespace = await newNamespace(client, `writes-${round}`);
      return createConfigMaps(client, { namespace, count: 5_000 });
    });
    const [, embedded = [], real = []] = measured;
    return {
      name: 'creations of ConfigMaps, 16 at a time, after 3,000 others',
      unit: 'writes/s',
      rows: sides.map(({ label }, side) => rowOf(label, measured[side] ?? [])),
      ratio: ratioOf(`${labels.embedded} to ${labels.real}`, embedded, real),
    };
  } finally {
    await cluster.stop();
  }
}

async function measureLists(servers: readonly Server[]): Promise<BenchResult> {
  const paths = new Map<Server, string>();
  for (const server of servers) {
    const namespace = await newNamespace(server.client, 'lists');
    await createConfigMaps(server.client, { namespace, count: 5_000 });
    paths.set(server, `/api/v1/namespaces/${namespace}/configmaps`);
  }
  const measured = await inRounds(servers, async (server) => {
    const begin = performance.now();
    let bytes = 0;
    for (let n = 0; n < 10; n++) {
      for await (const chunk of await server.open(paths.get(server) ?? '')) {
        bytes += (chunk as Buffer).length;
      }
    }
    return bytes / 1e6 / seconds(begin);
  });
  return comparedServers('lists of 5,000 ConfigMaps', 'MB/s', measured);
}

const watches = 100;
const changes = 500;

async function measureWatches(servers: readonly Server[]): Promise<BenchResult> {
  const measured = await inRounds(servers, async (server, round) => {
    const { client } = server;
    const namespace = await newNamespace(client, `watches-${round}`);
    const path = `/api/v1/namespaces/${namespace}/configmaps?watch=true`;
    const streams = await Promise.all(Array.from({ length: watches }, () => server.open(path)));
    const begin = performance.now();
    const received = Promise.all(streams.map((stream) => linesOf(stream, server.label)));
    await createConfigMaps(client, { namespace, count: changes });
    await received;
    const perSecond = (watches * changes) / seconds(begin);
    for (const stream of streams) stream.destroy();
    return perSecond;
  });
  return comparedServers(`${changes} creations, to ${watches} watches`, 'events/s', measured);
}

/** Resolves once the watch has sent an event for each change. */
async function linesOf(stream: IncomingMessage, label: string): Promise<void> {
  let lines = 0;
  await new Promise<void>((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
      if (lines >= changes) resolve();
    });
    stream.once('error', reject);
    stream.once('end', () => {
      reject(new Error(`${label} ended a watch after ${lines} of ${changes} events`));
    });
  });
}

/** Measures the memory of the server for each of many ConfigMaps. Option: `--objects=100000`. */
export async function benchServerMemory(): Promise<BenchResult> {
  const count = Number(flag('objects') ?? '100000');
  return withServers(async (servers) => {
    const measured: number[][] = [];
    for (const { client, pids } of servers) {
      const namespace = await newNamespace(client, 'memory');
      const before = await residentBytes(pids);
      await createConfigMaps(client, { namespace, count });
      measured.push([((await residentBytes(pids)) - before) / count]);
    }
    return comparedServers(`memory for ${count} ConfigMaps`, 'bytes each', measured);
  });
}

async function residentBytes(pids: readonly number[]): Promise<number> {
  const statuses = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/status`, 'utf8')));
  const kilobytes = statuses.map((status) => Number(/VmRSS:\s*(\d+)/.exec(status)?.[1]));
  return kilobytes.reduce((sum, each) => sum + each, 0) * 1_024;
}

async function withServers<T>(measure: (servers: readonly Server[]) => Promise<T>): Promise<T> {
  const command = await startApiServerCommand('--tls');
  const controlPlane = await startControlPlane({ unthrottled: true });
  const { pids } = controlPlane.processes;
  const realPids = [pids.get('etcd') ?? NaN, pids.get('kube-apiserver') ?? NaN];
  const realConfig = await readFile(controlPlane.kubeConfigPath, 'utf8');
  const servers = [
    await serverOf(labels.embedded, command.kubeConfig, [command.pid]),
    await serverOf(labels.real, realConfig, realPids),
  ];
  try {
    return await measure(servers);
  } finally {
    await Promise.all(servers.map(({ client }) => client.close()));
    command.stop();
    await controlPlane.stop();
  }
}

async function serverOf(label: string, text: string, pids: readonly number[]): Promise<Server> {
  const config = new KubeConfig();
  config.loadFromString(text);
  const agent = new Agent({ keepAlive: true });
  return {
    ...{ label, pids, client: await clientFromKubeConfig({ text }) },
    open: async (path) => {
      const options = { agent };
      await config.applyToHTTPSOptions(options);
      return new Promise((resolve, reject) => {
        const url = `${config.getCurrentCluster()?.server ?? ''}${path}`;
        request(url, { ...options, agent }, resolve)
          .once('error', reject)
          .end();
      });
    },
  };
}

/** Measures all sides in turn, several times; the first round is a warm-up. */
async function inRounds<S>(
  sides: readonly S[],
  measure: (side: S, round: number) => Promise<number>,
): Promise<readonly number[][]> {
  const measured: number[][] = sides.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, side] of sides.entries()) {
      const value = await measure(side, round);
      if (round > 0) measured[index]?.push(value);
    }
  }
  return measured;
}

function comparedServers(
  name: string,
  unit: string,
  [embedded = [], real = []]: readonly number[][],
): BenchResult {
  return {
    ...{ name, unit, rows: [rowOf(labels.embedded, embedded), rowOf(labels.real, real)] },
    ratio: ratioOf(`${labels.embedded} to ${labels.real}`, embedded, real),
  };
}

async function newNamespace(client: Client, suffix: string): Promise<string> {
  const name = `bench-${process.pid}-${suffix}`;
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return name;
}

/** Creates ConfigMaps with 400 bytes, 16 at a time, and returns the number for each second. */
async function createConfigMaps(
  client: Client,
  { namespace, count }: { readonly namespace: string; readonly count: number },
): Promise<number> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const metadata = { name: `c-${next++}`, namespace };
      const data = { text: 'x'.repeat(400) };
      await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    }
  };
  const begin = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  return count / seconds(begin);
}

function seconds(begin: number): number {
  return (performance.now() - begin) / 1_000;
}
