import type { DefaultCluster } from '../client/default-client.js';

/** Where text goes. */
export interface TextOutput {
  write(text: string): unknown;
  /** How many characters a line of the terminal has; undefined: it is none. */
  readonly columns?: number | undefined;
}

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether text for `output` has colours: if it is a terminal or `FORCE_COLOR` is set, and `NO_COLOR` is
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

/** A cluster by its context and its server: `context kind-dev: https://127.0.0.1:6443`. */
export function clusterText({ context, server }: DefaultCluster): string {
  return `${context === undefined ? 'the cluster of this Pod' : `context ${context}`}: ${server}`;
}
