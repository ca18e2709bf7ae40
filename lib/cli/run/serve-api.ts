import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, relative, resolve } from 'node:path';
import { EmbeddedCluster } from '../../apiserver/index.js';
import type { EmbeddedClusterOptions } from '../../apiserver/index.js';
import { isJsonObject, CustomResourceDefinition } from '../../object/index.js';
import { listenFailed, whenAborted, OperatorError, VirtualClock } from '../../system/index.js';
import type { CommandContext } from '../command-context.js';
import { whileWriting } from '../files.js';
import { objectAt, objectsAt, textAt } from '../json-values.js';
import { commandLogger } from '../options.js';
import type { LogOptions, Output } from '../options.js';
import { resourcesAt } from '../object-files.js';
import { textIfExists } from '../scaffold/plan-files.js';

/** Options of `operator-builder apiserver`. */
export interface ApiServerOptions extends LogOptions {
  readonly port: number;
  readonly kubeconfig: string;
  readonly crds?: readonly string[] | undefined;
  readonly workloads: boolean;
  readonly rbac: boolean;
  readonly tls?: boolean | undefined;
  readonly host: string;
  readonly virtualClock: boolean;
  readonly readyFile?: string | undefined;
  readonly output: Output;
}

/** Runs `operator-builder apiserver` until a signal stops it, which counts as success. */
export async function serveApi(options: ApiServerOptions, context: CommandContext): Promise<void> {
  const signal = context.stopSignal();
  const { cwd, env } = context;
  const { port, host, rbac, tls, workloads: simulateWorkloads } = options;
  const clock = options.virtualClock ? new VirtualClock() : context.clock;
  const control = env[controlTokenVariable] ?? true;
  const logger = await commandLogger(options, context);
  const crds = await definitionsIn(options.crds ?? [], context);
  const cluster = await startServer({
    ...{ port, host, control, crds, rbac, tls, simulateWorkloads, clock, logger },
  });
  try {
    const file = resolve(cwd, options.kubeconfig);
    await withKubeConfigFile(cluster, file, () =>
      whileReady(cluster, { file, options, context }, () => whenAborted(signal)),
    );
  } finally {
    await cluster.stop();
  }
}

/** The environment variable of the control API's token; unset: the server generates one. */
export const controlTokenVariable = 'OPERATOR_BUILDER_CONTROL_TOKEN';

/** Reports that the server is ready, and keeps the ready file while `work` runs. */
async function whileReady(
  cluster: EmbeddedCluster,
  { file, options, context }: Announced,
  work: () => Promise<void>,
): Promise<void> {
  const { stdout, cwd } = context;
  const control = { url: `${cluster.url}/_control/v1`, token: cluster.controlToken };
  const ready = `${JSON.stringify({ url: cluster.url, kubeconfig: file, control })}\n`;
  const path = options.readyFile === undefined ? undefined : resolve(cwd, options.readyFile);
  try {
    if (path !== undefined) await whileWriting(path, () => replaceFile(path, ready));
    if (options.output === 'json') stdout.write(ready);
    else {
      stdout.write(`the API server is at ${cluster.url}, until it is stopped\n`);
      stdout.write(`control API: ${control.url} (--output json prints its token)\n`);
      stdout.write(`kubectl --kubeconfig ${relative(cwd, file)} api-resources\n`);
    }
    await work();
  } finally {
    if (path !== undefined) await rm(path, { force: true });
  }
}

/** Input of {@link whileReady}. */
interface Announced {
  /** The path of the kubeconfig. */
  readonly file: string;
  readonly options: ApiServerOptions;
  readonly context: CommandContext;
}

/** Writes a file that only its owner can read. A program that waits for it never reads a part of it. */
async function replaceFile(path: string, text: string): Promise<void> {
  const part = `${path}.part`;
  await rm(part, { force: true });
  await writeFile(part, text, { mode: 0o600 });
  await rename(part, path);
}

/** @throws OperatorError `InvalidConfig`: a path can't be read, or contains something other than definitions */
async function definitionsIn(
  paths: readonly string[],
  context: CommandContext,
): Promise<readonly CustomResourceDefinition[]> {
  const objects = paths.length === 0 ? [] : await resourcesAt(paths, context);
  const other = objects.find(({ kind }) => kind !== CustomResourceDefinition.kind);
  if (other === undefined) return objects as unknown as readonly CustomResourceDefinition[];
  const message = `--crds: want CustomResourceDefinitions, got a ${other.kind}`;
  throw new OperatorError('InvalidConfig', `${message}; apply it once the server runs`);
}

/**
 * Starts an embedded cluster that listens on a port.
 * @throws OperatorError `ListenFailed`: the port is taken; and the errors of the cluster
 */
export async function startServer({
  port,
  ...options
}: EmbeddedClusterOptions & { readonly port: number }): Promise<EmbeddedCluster> {
  const cluster = await EmbeddedCluster.start(options);
  try {
    await cluster.listen(port);
    return cluster;
  } catch (thrown) {
    await cluster.stop();
    const remedy = 'pass another --port, or leave it out for any free port';
    const address = `${options.host ?? '127.0.0.1'}:${port}`;
    throw listenFailed('the API server', address, thrown, remedy);
  }
}

/**
 * Writes the kubeconfig of a listening embedded cluster, and removes it after `work`.
 * @param file - an absolute path
 * @throws OperatorError `InvalidConfig`: the file belongs to another cluster, or can't be written
 */
export async function withKubeConfigFile(
  cluster: EmbeddedCluster,
  file: string,
  work: () => Promise<void>,
): Promise<void> {
  const server = await serverIn(file);
  if (server !== undefined && (await isOfOther(server, cluster))) {
    const remedy =
      'stop that one, or pass another file; if another program listens there, remove the file';
    throw new OperatorError(
      'InvalidConfig',
      `${file} is the kubeconfig of an embedded cluster that runs at ${server}; ${remedy}`,
    );
  }
  await whileWriting(file, async () => {
    await mkdir(dirname(file), { recursive: true });
    await cluster.writeKubeConfig(file);
  });
  try {
    await work();
  } finally {
    // Keep a file that the user has replaced.
    if ((await textIfExists(file)) === cluster.kubeConfig()) await rm(file, { force: true });
  }
}

/**
 * Returns a file for the kubeconfig of a listening cluster: `file`, or another file while another cluster uses `file`.
 */
export async function freeKubeConfigFile(cluster: EmbeddedCluster, file: string): Promise<string> {
  const server = await serverIn(file);
  if (server === undefined || !(await isOfOther(server, cluster))) return file;
  return `${file}-${new URL(cluster.url).port}`;
}

/**
 * Returns the address in the kubeconfig of an embedded cluster; undefined without one.
 * @throws OperatorError `InvalidConfig`: another file, such as the kubeconfig with the user's clusters
 */
async function serverIn(file: string): Promise<string | undefined> {
  const text = await textIfExists(file);
  if (text === undefined || text.trim() === '') return undefined;
  const { parse } = await import('yaml');
  const { checkYamlDepth } = await import('../../object/index.js');
  let content: unknown;
  try {
    content = parse(checkYamlDepth(text, file));
  } catch {
    // Invalid YAML: not a file of this program.
  }
  const config = isJsonObject(content) ? content : {};
  const [only, ...others] = objectsAt(config, 'contexts');
  if (others.length === 0 && only?.['name'] === 'embedded') {
    const [named = {}] = objectsAt(config, 'clusters');
    return textAt(objectAt(named, 'cluster'), 'server');
  }
  const remedy = 'pass another file, or remove it';
  throw new OperatorError(
    'InvalidConfig',
    `${file} exists, and is not the kubeconfig of an embedded cluster; ${remedy}`,
  );
}

const longestConnectMs = 1_000;

/** Whether a server other than that of `cluster` listens at an address: a process that was killed leaves its file. */
async function isOfOther(server: string, { url }: EmbeddedCluster): Promise<boolean> {
  if (server === url || !URL.canParse(server)) return false;
  const { hostname, port } = new URL(server);
  const host = hostname.replaceAll(/[[\]]/g, '');
  const socket = connect({ host, port: Number(port), timeout: longestConnectMs });
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      for (const event of ['error', 'timeout']) socket.once(event, () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}
