import type { Progress } from './build.js';

/** Options of {@link startControlPlane}. */
export interface ControlPlaneOptions {
  /**
   * Disables the API server's own request limits, for benchmarks of throughput.
   * @defaultValue false
   */
  readonly unthrottled?: boolean;
  /** Additional arguments of kube-apiserver. @defaultValue none */
  readonly apiServerArgs?: readonly string[];
  /** Receives progress messages of builds. @defaultValue a line on stderr */
  readonly progress?: Progress;
}

/** {@link ControlPlaneOptions} with all defaults. */
export type ResolvedControlPlaneOptions = Required<ControlPlaneOptions>;

/** Fills in the defaults. */
export function resolveControlPlaneOptions(
  options: ControlPlaneOptions,
): ResolvedControlPlaneOptions {
  const { unthrottled = false, apiServerArgs = [], progress = writeToStderr } = options;
  return { unthrottled, apiServerArgs, progress };
}

function writeToStderr(line: string): void {
  process.stderr.write(`control plane: ${line}\n`);
}
