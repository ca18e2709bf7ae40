import { isIP } from 'node:net';
import type { Clock, Logger, Random, Resolved } from '../../system/index.js';
import { refuseNonNumbers, refuseUnknownOptions, OperatorError } from '../../system/index.js';
import { HttpEndpoint, refusePort } from '../http-endpoint.js';
import type { Runnable } from '../runnable.js';
import type { OverviewSources } from './overview-of.js';

interface BindInspectorOptions {
  readonly inspector: ResolvedInspectorOptions | undefined;
  readonly leaderElection: unknown;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Returns the inspector's server; loads its pages only if needed.
 * @returns undefined if the inspector is off
 */
export async function bindInspector(
  { inspector: options, leaderElection, clock, random, logger }: BindInspectorOptions,
  sources: Omit<OverviewSources, 'isElected' | 'clock'>,
): Promise<Runnable | undefined> {
  if (options === undefined) return undefined;
  const { Inspector } = await import('./inspector.js');
  const { host, port } = options;
  if (!isLoopback(host)) {
    logger.warn('inspector has no authentication: every client that reaches it can read it', {
      host,
    });
  }
  const isElected = leaderElection !== undefined;
  const inspector = new Inspector({ ...sources, options, isElected, clock, random });
  return new HttpEndpoint({
    ...{ name: 'inspector', host, port, clock },
    answer: (question) => inspector.answer(question),
  });
}

/** Options of the inspector: a page that shows a manager's state, without authentication. */
export interface InspectorOptions {
  /** 0 selects a free port. @defaultValue 8082 */
  readonly port?: number | undefined;
  /**
   * The address to listen on. Every client that reaches it sees the whole page: keep it at loopback and use
   * `kubectl port-forward`. @defaultValue '127.0.0.1'
   */
  readonly host?: string | undefined;
  /**
   * Allowed host names of requests, besides `localhost` and IP addresses. All others are refused: a website
   * could resolve its own name to this address and read the page in a browser.
   * @defaultValue none
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Maximum number of live pages, at least 1. @defaultValue 8 */
  readonly maxLivePages?: number | undefined;
  /** Interval of updates to live pages, in milliseconds, at least 100. @defaultValue 1_000 */
  readonly updateMs?: number | undefined;
}

export type ResolvedInspectorOptions = Resolved<Omit<InspectorOptions, 'allowedHosts'>> & {
  /** The allowed host names, in lower case. */
  readonly allowedHosts: ReadonlySet<string>;
};

/** Fills in the defaults. @throws OperatorError `InvalidOption`: an option is out of its range. */
export function resolveInspectorOptions(options: InspectorOptions): ResolvedInspectorOptions {
  const { port = 8082, host = '127.0.0.1', allowedHosts = [] } = options;
  const { maxLivePages = 8, updateMs = 1_000 } = options;
  const refuse = (what: string): never => {
    throw new OperatorError('InvalidOption', `inspector: ${what}`);
  };
  refusePort('inspector', port);
  refuseNonNumbers('inspector', { maxLivePages, updateMs });
  if (host === '') refuse('host must not be empty; give 0.0.0.0 to listen on every address');
  if (!(Number.isInteger(maxLivePages) && maxLivePages >= 1)) {
    refuse(`maxLivePages ${maxLivePages}: want 1 or more`);
  }
  if (!(updateMs >= 100 && updateMs < Infinity)) refuse(`updateMs ${updateMs}: want 100 or more`);
  const names = new Set(allowedHosts.map((name) => name.toLowerCase()));
  const resolved = { port, host, allowedHosts: names, maxLivePages, updateMs };
  refuseUnknownOptions<InspectorOptions>('inspector', options, resolved);
  return resolved;
}

/** Returns whether the address is reachable only from this machine (or Pod). */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
