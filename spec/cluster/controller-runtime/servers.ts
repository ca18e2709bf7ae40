import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { findControlPlane } from '../control-plane/binaries.js';

/** Runs `work` with a folder for `KUBEBUILDER_ASSETS` whose programs start the embedded server. */
export async function withEmbeddedPrograms<T>(work: (assets: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'envtest-'));
  const program = fileURLToPath(new URL('../../../lib/cli/main.ts', import.meta.url));
  try {
    const args = [
      '--import',
      pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href,
      program,
      'envtest',
      folder,
    ];
    await promisify(execFile)(process.execPath, args);
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the folder with the real kube-apiserver and etcd. */
export async function realPrograms(): Promise<string> {
  const { programs } = await findControlPlane((line) => process.stderr.write(`${line}\n`));
  return dirname(programs['kube-apiserver']);
}
