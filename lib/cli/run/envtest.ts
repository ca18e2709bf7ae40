import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { OperatorError, waited } from '../../system/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { shellQuoted } from '../object-texts.js';
import { readText, statIfExists, whileWriting } from '../files.js';
import { commandLogger } from '../options.js';
import { startServer, controlTokenVariable } from './serve-api.js';

export interface EnvtestOptions {
  /**
   * Whether the server runs the controllers of workloads.
   * @defaultValue false
   */
  readonly workloads?: boolean | undefined;
}

/**
 * Writes the programs `kube-apiserver` and `etcd` that envtest starts, as shell scripts, and prints the folder.
 * @throws OperatorError `InvalidConfig`: a file can't be written, or is another program
 */
export async function writeEnvtestPrograms(
  folder: string,
  options: EnvtestOptions,
  context: CommandContext,
): Promise<void> {
  const path = resolve(context.cwd, folder);
  await whileWriting(path, async () => {
    await mkdir(path, { recursive: true });
    for (const [name, text] of Object.entries(programTexts(path, options, context))) {
      const file = join(path, name);
      await refuseOthers(file);
      await writeFile(file, text);
      // `writeFile` sets the mode of a new file only.
      await chmod(file, 0o755);
    }
  });
  context.stdout.write(`${path}\n`);
}

function programTexts(
  folder: string,
  { workloads = false }: EnvtestOptions,
  { program }: CommandContext,
): Readonly<Record<string, string>> {
  const [node = ''] = program;
  const own = ['envtest', folder, ...(workloads ? ['--workloads'] : []), '--'];
  return {
    'kube-apiserver': script([...program, ...own]),
    etcd: script([node, '--eval', healthServer, '--']),
  };
}

/** How often a program checks that the test which started it still runs. */
const starterCheckMs = 1_000;

/** The part of etcd that envtest needs: it waits for the health of the URL that it chose. */
const healthServer = `
const [, url] = /--listen-client-urls=(\\S+)/.exec(process.argv.join(' '));
const { hostname, port } = new URL(url);
require('http').createServer((_, response) => response.end('{"health":"true"}')).listen(port, hostname);
const starter = process.ppid;
setInterval(() => process.ppid === starter || process.exit(), ${starterCheckMs});
`;

const scriptHead = '#!/bin/sh\n[ "$1" = --help ] && exit\nexec ';

/** The folder may have the real programs. @throws OperatorError `InvalidConfig` */
async function refuseOthers(file: string): Promise<void> {
  const { size = 0 } = statIfExists(file) ?? {};
  if (size === 0) return;
  const isOwn = size < 65_536 && (await readFile(file, 'utf8')).startsWith(scriptHead);
  if (isOwn) return;
  const problem = `${file} is another program`;
  throw new OperatorError('InvalidConfig', `${problem}; name another folder, or remove it`);
}

/** Returns the script of a program. It passes on all arguments, even `--help`, from which envtest reads the flags. */
function script(command: readonly string[]): string {
  return `${scriptHead}${command.map(shellQuoted).join(' ')} "$@"
`;
}

/**
 * Serves in place of kube-apiserver until a signal stops it, or the test that started it has ended: a test that fails
 * early or is killed does not stop its server. As in envtest, no controllers run, unless the server simulates
 * workloads.
 * @param flags - flags of kube-apiserver, as envtest passes them
 * @throws UsageError: a flag is missing or invalid
 */
export async function serveForEnvtest(
  flags: readonly string[],
  { workloads: simulateWorkloads = false }: EnvtestOptions,
  context: CommandContext,
): Promise<void> {
  const signal = context.stopSignal();
  const starter = process.ppid;
  const logger = await commandLogger({ logLevel: 'warn' }, context);
  const cluster = await startServer({
    ...(await servingOf(flags, context)),
    control: context.env[controlTokenVariable] ?? false,
    simulateWorkloads,
    controllers: simulateWorkloads ? {} : serverAlone,
    ...{ clock: context.clock, logger },
  });
  context.stdout.write(`the API server is at ${cluster.url}\n`);
  try {
    while (!signal.aborted && process.ppid === starter) {
      // An abort only ends the wait: the loop checks the signal.
      await waited(context.clock, starterCheckMs, signal);
    }
  } finally {
    await cluster.stop();
  }
}

/** A kube-apiserver alone runs no controllers, but creates the Service `kubernetes`. */
const serverAlone = {
  garbageCollector: false,
  namespaces: false,
  kubernetesService: true,
} as const;

/** Flags that are ignored: they name files of etcd and of tokens, or ask for what this server always does. */
const silentFlags: ReadonlySet<string> = new Set([
  ...['advertise-address', 'allow-privileged', 'disable-admission-plugins', 'etcd-servers'],
  ...['insecure-port', 'service-account-issuer', 'service-account-key-file'],
  ...['service-account-signing-key-file', 'service-cluster-ip-range'],
]);

/** Returns the options of the server that flags of kube-apiserver set. */
async function servingOf(flags: readonly string[], context: CommandContext) {
  const given = new Map(flags.map(nameAndValue));
  const take = (name: string): string | undefined => {
    const value = given.get(name);
    given.delete(name);
    return value;
  };
  const folder = take('cert-dir');
  const file = (name: string, inFolder: string): string => {
    const path = take(name) ?? (folder === undefined ? undefined : join(folder, inFolder));
    if (path !== undefined) return resolve(context.cwd, path);
    throw new UsageError(`--${name} is missing; pass it, or --cert-dir with ${inFolder}`);
  };
  const authority = take('client-ca-file');
  const serving = {
    port: portOf(take('secure-port')),
    host: take('bind-address') ?? '127.0.0.1',
    rbac: /\bRBAC\b/.test(take('authorization-mode') ?? ''),
    tls: {
      certificate: await readText(file('tls-cert-file', 'apiserver.crt')),
      privateKey: await readText(file('tls-private-key-file', 'apiserver.key')),
      clientAuthority: authority && (await readText(resolve(context.cwd, authority))),
    },
  };
  const ignored = [...given.keys()].filter((name) => !silentFlags.has(name));
  for (const name of ignored) {
    context.stderr.write(`warning: --${name} of kube-apiserver has no effect on this server\n`);
  }
  return serving;
}

function portOf(text = ''): number {
  const port = Number(text);
  if (text !== '' && Number.isInteger(port) && 0 <= port && port <= 65_535) return port;
  throw new UsageError(`--secure-port: want a port, 0 to 65535, got ${text || 'none'}`);
}

/** @throws UsageError: it is not a flag */
function nameAndValue(flag: string): readonly [name: string, value: string] {
  const [, name, value = 'true'] = /^--([^=]+)(?:=(.*))?$/s.exec(flag) ?? [];
  if (name !== undefined) return [name, value];
  throw new UsageError(`invalid flag of kube-apiserver: want --name=value, got ${flag}`);
}
