import type { DefaultCluster } from '../client/default-client.js';

/** Destination of text output. */
export interface TextOutput {
  write(text: string): unknown;
  /** Characters per line of the terminal; undefined if the output is not a terminal. */
  readonly columns?: number | undefined;
}

/** Environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns whether text for `output` has colours: it is a terminal or `FORCE_COLOR` is set, and `NO_COLOR` is
 * not set.
 */
export function usesColors(
  { env }: { readonly env: Environment },
  { columns }: TextOutput,
): boolean {
  const { NO_COLOR: never = '', FORCE_COLOR: always = '' } = env;
  if (never !== '') return false;
  return always === '' ? columns !== undefined : always !== '0' && always !== 'false';
}

/** Returns the context and server of a cluster: `context kind-dev: https://127.0.0.1:6443`. */
export function clusterText({ context, server }: DefaultCluster): string {
  return `${context === undefined ? 'the cluster of this Pod' : `context ${context}`}: ${server}`;
}
