import type { Progress } from './build.js';

/** Options of {@link startControlPlane}. */
export interface ControlPlaneOptions {
  /**
   * Turns off the API server's own limits on requests, for benches that measure throughput.
   * @defaultValue false
   */
  readonly unthrottled?: boolean;
  /** Further arguments of kube-apiserver. @defaultValue none */
  readonly apiServerArgs?: readonly string[];
  /** Told what goes on while programs are built. @defaultValue a line on stderr */
  readonly progress?: Progress;
}

/** {@link ControlPlaneOptions} with every default in place. */
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
