import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { sharedControlPlane } from './control-plane/shared.js';

const run = promisify(execFile);
const sources = join(import.meta.dirname, 'other-clients');

/** The answers of a server, by step. */
type Session = Readonly<Record<string, unknown>> & { readonly watched: readonly unknown[] };

interface OtherClient {
  readonly name: string;
  /** Downloads what the client needs. Rejects if this machine lacks its language or cannot reach its registry. */
  readonly download: (folder: string) => Promise<unknown>;
  /** Builds the client. @returns its command */
  readonly build: (folder: string) => Promise<readonly string[]>;
}

const manifest = join(sources, 'rust', 'Cargo.toml');

const clients: readonly OtherClient[] = [
  {
    name: 'the Python client',
    download: async (folder) => {
      await run('python3', ['-m', 'venv', folder]);
      const requirements = join(sources, 'python', 'requirements.txt');
      await run(join(folder, 'bin', 'pip'), ['install', '--quiet', '--requirement', requirements]);
    },
    build: (folder) =>
      Promise.resolve([join(folder, 'bin', 'python'), join(sources, 'python', 'session.py')]),
  },
  {
    name: 'kube-rs',
    download: () => run('cargo', ['fetch', '--quiet', '--locked', '--manifest-path', manifest]),
    build: async (folder) => {
      const args = ['--quiet', '--locked', '--manifest-path', manifest, '--target-dir', folder];
      await run('cargo', ['build', ...args]);
      return [join(folder, 'debug', 'session')];
    },
  },
];

const folder = resolve('.cache/other-clients');
const folderOf = ({ name }: OtherClient): string => join(folder, name.replaceAll(' ', '-'));
await mkdir(folder, { recursive: true });

/** The clients that this machine can have: not every one has Rust, or reaches its registry. */
const present: OtherClient[] = [];
for (const client of clients) {
  try {
    await client.download(folderOf(client));
    present.push(client);
  } catch (error) {
    const [why = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    process.stderr.write(`left out: ${client.name} can't be downloaded: ${why}\n`);
  }
}

describe('Kubernetes clients in other languages, on the embedded server', function () {
  // The first run compiles kube-rs.
  this.timeout(900_000);
  const kubeConfig = join(folder, 'kubeconfig');
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start({ port: 0 });
    await cluster.writeKubeConfig(kubeConfig);
  });

  after(async () => {
    await cluster.stop();
    await rm(kubeConfig);
  });

  for (const client of present) {
    it(`get the same answers as from a real server when they apply, patch and watch: ${client.name}`, async () => {
      const [command = '', ...args] = await client.build(folderOf(client));
      const { kubeConfigPath } = await sharedControlPlane();
      const namespace = `session-${process.pid}-${client.name.length}`;
      const sessions = await Promise.all(
        [kubeConfig, kubeConfigPath].map(async (path): Promise<Session> => {
          const { stdout } = await run(command, [...args, path, namespace]);
          return JSON.parse(stdout) as Session;
        }),
      );
      const [ours, real] = sessions;
      expect(ours).to.deep.equal(real);
      expect(ours?.watched).to.have.length(5);
      expect(ours?.['conflict']).to.deep.include({ code: 409, reason: 'Conflict' });
    });
  }
});
