import type { BuildOptions, BuildResult } from 'esbuild';

export function bundle<T extends BuildOptions>(
  entryPoints: readonly string[],
  options?: T,
): Promise<BuildResult<T>>;
