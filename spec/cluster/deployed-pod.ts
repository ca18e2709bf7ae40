import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '../../lib/client/index.js';
import { ConfigMap, Deployment, Secret } from '../../lib/object/kinds.js';
import type { ObjectKey } from '../../lib/object/kubernetes-object.js';
import { linkPackages } from '../cli/project/project-copy.js';
import { kubeConfigOf } from '../samples/deployed/deployed-target.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { findFreePort } from './control-plane/free-ports.js';

/** A Deployment of `declarative manifests`, and a folder for the files of its pod. */
export interface DeployedPodOptions {
  readonly key: ObjectKey;
  /** The folder of the manifests. */
  readonly project: string;
  readonly folder: string;
  readonly plane: ControlPlane;
  readonly admin: Client;
}

interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name?: string };
  readonly secret?: { readonly secretName?: string };
}

interface Container {
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

/** A process to start. */
interface Command {
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Runs the container of a Deployment as a process of this machine, as a kubelet would: the program of the
 * Dockerfile with the arguments of the Deployment, the files of its volumes and the token of its ServiceAccount.
 * It has no network and no root of its own: its ports are free ports of the machine, and its mounts are folders.
 */
export class DeployedPod {
  /** User name in the audit log. */
  readonly user: string;
  /** The ports of this machine by their names in the Deployment. */
  readonly #ports: ReadonlyMap<string, number>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  output = '';

  private constructor(user: string, ports: ReadonlyMap<string, number>, { words, env }: Command) {
    this.user = user;
    this.#ports = ports;
    const [node = '', ...args] = words;
    this.#child = spawn(node, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
    this.#ended = new Promise((resolve) => this.#child.on('close', resolve));
  }

  /** Starts the only container of the Deployment. */
  static async start(options: DeployedPodOptions): Promise<DeployedPod> {
    const { key, folder, project, plane, admin } = options;
    const { namespace = '' } = key;
    const { spec } = (await admin.get(Deployment, key)).spec?.template ?? {};
    const account = { name: spec?.serviceAccountName ?? '', namespace };
    const [container] = spec?.containers ?? [];
    const { args = [], ports: given = [], volumeMounts: mounts = [] } = container as Container;
    const places = new Map([['$(POD_NAMESPACE)', namespace]]);
    for (const volume of (spec?.volumes ?? []) as readonly Volume[]) {
      const mount = mounts.find(({ name }) => name === volume.name);
      const place = join(folder, volume.name);
      await mountFiles(place, await filesOf(volume, namespace, admin));
      places.set(mount?.mountPath ?? '', place);
    }
    const ports = new Map<string, number>();
    for (const { name = '', containerPort } of given) {
      const port = await findFreePort();
      ports.set(name, port);
      places.set(`=${containerPort}`, `=${port}`);
    }
    const kubeconfig = join(folder, 'kubeconfig');
    const { url, caData } = plane;
    const text = await kubeConfigOf({ admin, url, caData }, account);
    await writeFile(kubeconfig, text, { mode: 0o600 });
    const env = { ...process.env, KUBECONFIG: kubeconfig, POD_NAMESPACE: namespace };
    const program = await programOf(project, join(folder, 'image'));
    const words = [...program, ...args.map((arg) => replaced(arg, places))];
    const user = `system:serviceaccount:${namespace}:${account.name}`;
    return new DeployedPod(user, ports, { words, env });
  }

  /** Returns the port of this machine for a named port. */
  portOf(name: string): number {
    return this.#ports.get(name) ?? 0;
  }

  /** Stops the process like the kubelet. @returns its exit code */
  stop(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    return this.#ended;
  }

  /** @throws Error with its output, if it has ended */
  check(): void {
    const { exitCode } = this.#child;
    if (exitCode !== null) throw new Error(`it has ended with ${exitCode}: ${this.output}`);
  }
}

/** Builds the program of a Dockerfile. @returns its command line */
async function programOf(project: string, image: string): Promise<readonly string[]> {
  await mkdir(image);
  linkPackages(image);
  const manifest = await readFile(join(project, 'package.json'), 'utf8');
  await writeFile(join(image, 'package.json'), manifest);
  const { scripts } = JSON.parse(manifest) as { readonly scripts: { readonly build: string } };
  const programs = join(image, 'node_modules/esbuild/bin');
  const env = { ...process.env, PATH: `${programs}${delimiter}${process.env['PATH'] ?? ''}` };
  await promisify(execFile)('sh', ['-c', scripts.build], { cwd: image, env });
  const dockerfile = await readFile(join(project, 'Dockerfile'), 'utf8');
  const [, entrypoint = ''] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
  const places = new Map([
    ['/nodejs/bin/node', process.execPath],
    ['/operator/', `${image}/`],
  ]);
  return (JSON.parse(entrypoint) as readonly string[]).map((word) => replaced(word, places));
}

function replaced(arg: string, words: ReadonlyMap<string, string>): string {
  return [...words].reduce((text, [word, by]) => text.replace(word, () => by), arg);
}

async function filesOf(
  { configMap, secret }: Volume,
  namespace: string,
  admin: Client,
): Promise<Readonly<Record<string, string>>> {
  if (configMap !== undefined) {
    const { data = {} } = await admin.get(ConfigMap, { name: configMap.name ?? '', namespace });
    return data;
  }
  const { data = {} } = await admin.get(Secret, { name: secret?.secretName ?? '', namespace });
  const decoded = Object.entries(data).map(
    ([name, value]) => [name, Buffer.from(value, 'base64').toString()] as const,
  );
  return Object.fromEntries(decoded);
}

/** Writes the files of a volume with the links of a kubelet. */
async function mountFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(join(folder, '..2026'), { recursive: true });
  await symlink('..2026', join(folder, '..data'));
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, '..2026', name), text, { mode: 0o600 });
    await symlink(join('..data', name), join(folder, name));
  }
}
