import { defaultCluster } from '../client/default-client.js';
import type { OperatorFeed } from '../feed/index.js';
import type { Environment, TextOutput } from '../feed/text-output.js';
import { clusterText, usesColors } from '../feed/text-output.js';
import type { Manager } from '../manager/manager.js';
import type { OperatorDefinition } from '../manager/operator-definition.js';
import { systemClock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import { OperatorError } from '../system/operator-error.js';
import { pinoLogger } from '../system/pino-logger.js';
import { isPod } from './command-line.js';
import type { CommandLine } from './command-line.js';
import type { OperatorRunOptions } from './run-operator.js';

/** Process resources that a run uses. */
export interface RunPlace {
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  readonly env: Environment;
}

/** The output channels of a run. */
export interface RunOutput {
  readonly logger: Logger;
  /** Undefined if only log lines are printed. */
  readonly feed?: OperatorFeed;
}

/**
 * Returns the given logger alone; for a terminal, a feed plus log lines; for programs, JSON lines.
 * @throws OperatorError `InvalidOption`: `logFormat` is given together with a `logger`.
 */
export async function outputOf(
  { logger, logFormat: wanted, clock = systemClock }: OperatorRunOptions,
  line: CommandLine,
  { stdout, stderr, env }: RunPlace,
): Promise<RunOutput> {
  if (logger !== undefined) {
    if (wanted === undefined) return { logger };
    const remedy = 'leave one of them out';
    throw new OperatorError('InvalidOption', `Operator.run: logFormat beside a logger; ${remedy}`);
  }
  const isForPeople = stdout.columns !== undefined && !isPod(line, env);
  const format = wanted ?? line.logFormat ?? (isForPeople ? 'text' : 'json');
  if (format === 'json') return { logger: pinoLogger({ level: line.logLevel ?? 'info' }) };
  // Load the feed only if it is printed.
  const feeds = await import('../feed/index.js');
  const { logLevel: level = 'warn' } = line;
  const write = (text: string): void => void stderr.write(text);
  const all = feeds.textLogger({ level, write, color: usesColors({ env }, stderr) });
  return {
    logger: level === 'debug' ? all : feeds.withoutFailures(all),
    feed: new feeds.OperatorFeed({ stdout, env, clock }),
  };
}

/** An operator in its manager, before the start. */
export interface FedRun {
  readonly manager: Manager;
  readonly options: OperatorRunOptions;
  readonly line: CommandLine;
  readonly run: RunPlace;
}

/** Prints the head of a feed, and a line once the operator has started. */
export async function beginFeed(
  feed: OperatorFeed,
  { name, resources = [], cacheOptions }: OperatorDefinition,
  { manager, options, line: { kubeconfig: path }, run: { env } }: FedRun,
): Promise<void> {
  const { client, signal } = options;
  const cluster =
    client === undefined ? clusterText(await defaultCluster({ path, env })) : undefined;
  const { namespaces } = options.cacheOptions ?? cacheOptions ?? {};
  feed.use(resources);
  feed.sayHead({ operator: name, cluster, namespaces });
  // `run` throws the reason of a failed start.
  void manager.whenStarted(signal).then(
    () => feed.lines.say('\nstarted'),
    () => undefined,
  );
}
