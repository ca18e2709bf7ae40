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

/** Clients of other languages: each installs what it needs, and returns its command. */
const clients: Readonly<Record<string, (folder: string) => Promise<readonly string[]>>> = {
  'the Python client': async (folder) => {
    await run('python3', ['-m', 'venv', folder]);
    const requirements = join(sources, 'python', 'requirements.txt');
    await run(join(folder, 'bin', 'pip'), ['install', '--quiet', '--requirement', requirements]);
    return [join(folder, 'bin', 'python'), join(sources, 'python', 'session.py')];
  },
  'kube-rs': async (folder) => {
    const manifest = join(sources, 'rust', 'Cargo.toml');
    const args = ['--quiet', '--locked', '--manifest-path', manifest, '--target-dir', folder];
    await run('cargo', ['build', ...args]);
    return [join(folder, 'debug', 'session')];
  },
};

describe('clients of other languages', function () {
  // The first run downloads and compiles them.
  this.timeout(900_000);
  const folder = resolve('.cache/other-clients');
  const kubeConfig = join(folder, 'kubeconfig');
  let cluster: EmbeddedCluster;

  before(async () => {
    await mkdir(folder, { recursive: true });
    cluster = await EmbeddedCluster.start({ port: 0 });
    await cluster.writeKubeConfig(kubeConfig);
  });

  after(async () => {
    await cluster.stop();
    await rm(kubeConfig);
  });

  for (const [name, install] of Object.entries(clients)) {
    it(`get the answers of the real server when they apply, patch and watch: ${name}`, async () => {
      const [command = '', ...args] = await install(join(folder, name.replaceAll(' ', '-')));
      const { kubeConfigPath } = await sharedControlPlane();
      const namespace = `session-${process.pid}-${name.length}`;
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
