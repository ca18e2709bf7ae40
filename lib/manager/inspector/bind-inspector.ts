import type { Clock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import type { Random } from '../../system/random.js';
import { HttpEndpoint } from '../http/http-endpoint.js';
import type { Runnable } from '../runnable.js';
import { isLoopback } from './inspector-options.js';
import type { ResolvedInspectorOptions } from './inspector-options.js';
import type { OverviewSources } from './overview-of.js';

/** Options of {@link bindInspector}. */
export interface BindInspectorOptions {
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
