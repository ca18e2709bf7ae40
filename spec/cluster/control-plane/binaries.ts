import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildControlPlane, stagesFile, storageClassFile } from './build.js';
import type { Progress } from './build.js';
import { programs } from './programs.js';
import type { Program } from './programs.js';

/** Paths of a control plane's programs. */
export interface ControlPlaneFiles {
  readonly programs: Readonly<Record<Program, string>>;
  /** Files with the behaviour that kwok simulates. */
  readonly stages: string;
  readonly storageClass: string;
}

/**
 * Finds the programs: first in the folder `KUBEBUILDER_ASSETS` (like envtest), the rest in the build of this folder.
 * @throws Error: `KUBEBUILDER_ASSETS` lacks etcd or kube-apiserver, or the build failed.
 */
export async function findControlPlane(progress: Progress): Promise<ControlPlaneFiles> {
  const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
  if (assets !== '') requireAssets(assets);
  const built = await buildControlPlane(progress);
  const find = (program: Program) => {
    const asset = join(assets, program);
    return assets !== '' && existsSync(asset) ? asset : join(built, program);
  };
  return {
    programs: Object.fromEntries(programs.map((name) => [name, find(name)])) as Record<
      Program,
      string
    >,
    stages: join(built, stagesFile),
    storageClass: join(built, storageClassFile),
  };
}

function requireAssets(assets: string): void {
  for (const name of ['etcd', 'kube-apiserver']) {
    if (existsSync(join(assets, name))) continue;
    throw new Error(`KUBEBUILDER_ASSETS is ${assets}, but there is no ${name} in it`);
  }
}
