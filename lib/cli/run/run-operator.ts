import { resolve } from 'node:path';
import type { Client } from '../../client/index.js';
import { withoutFailures } from '../../feed/index.js';
import { certificateFiles } from '../../manager/index.js';
import type { ManagerOptions } from '../../manager/index.js';
import { whenAborted, isOperatorError } from '../../system/index.js';
import type { Logger, Tracer } from '../../system/index.js';
import { UsageError, whileReporting } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { accountContext, commandLogger, managerOptionsOf, runRemedy } from '../options.js';
import type { ClusterOptions, LogOptions, ProcessOptions } from '../options.js';
import { loadOperator } from '../load-operator.js';
import type { LoadedProject } from '../load-operator.js';
import type { KeepRunning } from './keep-running.js';

/** State that all ways to run an operator share. */
export interface Running {
  readonly options: RunOptions;
  readonly context: CommandContext;
  readonly first: LoadedProject;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Runs `operator-builder run` until a signal stops it, which counts as success. */
export async function runOperator(options: RunOptions, given: CommandContext): Promise<void> {
  refuseContradictions(options);
  // On an embedded cluster, the operator has its own role.
  const context = options.embedded === true ? given : accountContext(given, runRemedy);
  const signal = context.stopSignal();
  try {
    const logger = await loggerBesideFeed(options, context);
    const first = await Promise.race([load(options, context), whenAborted(signal)]);
    // A module of the operator may wait forever.
    if (first === undefined) return;
    const running = { options, context, first, logger, signal };
    if (options.embedded === true) {
      const { runEmbedded } = await import('./run-embedded.js');
      await runEmbedded(running);
    } else {
      const { runOnCluster } = await import('./run-on-cluster.js');
      await runOnCluster(running);
    }
  } catch (error) {
    // The user stopped the operator during its start.
    if (!signal.aborted || !isOperatorError(error, 'Aborted')) throw error;
  }
}

/** Omits reconcile failures, which the feed prints, unless the user asks for whole log lines. */
async function loggerBesideFeed(options: RunOptions, context: CommandContext): Promise<Logger> {
  const logger = await commandLogger(options, context);
  const isWhole = options.logFormat === 'json' || options.logLevel === 'debug';
  return isWhole ? logger : withoutFailures(logger);
}

/** Returns the settings that do not depend on the cluster. */
export function keptRunning({
  options,
  context,
  logger,
  signal,
}: Running): Pick<KeepRunning, 'load' | 'watch' | 'print' | 'clock' | 'logger' | 'signal'> {
  const { clock, stderr } = context;
  return {
    load: () => load(options, context),
    print: (text) => void stderr.write(`${text}\n`),
    watch: options.watch,
    ...{ clock, logger, signal },
  };
}

/** The parts that an operator runs with. */
export interface Managed {
  readonly client: Client;
  readonly tracer?: Tracer | undefined;
  readonly loaded: LoadedProject;
}

/** Returns the options of an operator's manager. */
export function managerOptions(
  { options, context: { clock, cwd }, logger }: Running,
  { client, tracer, loaded: { operator } }: Managed,
): ManagerOptions {
  const { namespace: namespaces, webhookCerts, webhookPort: port } = options;
  const { webhooks = [] } = operator;
  const isServed = webhookCerts !== undefined && webhooks.length > 0;
  return {
    ...{ client, tracer, clock, logger, rbacPreflight: 'fail' },
    ...managerOptionsOf(options),
    cacheOptions: { ...operator.cacheOptions, ...(namespaces !== undefined && { namespaces }) },
    ...(isServed && {
      webhooks: {
        webhooks,
        port,
        certificates: certificateFiles({ folder: resolve(cwd, webhookCerts) }),
      },
    }),
  };
}

function load({ project }: RunOptions, context: CommandContext): Promise<LoadedProject> {
  return whileReporting('compiling the operator', context, () =>
    loadOperator(resolve(context.cwd, project)),
  );
}

const onlyEmbedded = ['asAdmin', 'filename', 'kubeconfigOut', 'port', 'untilSettled'] as const;
const onlyCluster = [
  ...(['kubeconfig', 'context', 'as', 'asGroup'] as const),
  ...(['webhookPort', 'webhookCerts'] as const),
] as const;

function refuseContradictions(options: RunOptions): void {
  const { embedded = false, webhookPort, webhookCerts } = options;
  const wrong = (embedded ? onlyCluster : onlyEmbedded).find((name) => options[name] !== undefined);
  if (wrong !== undefined) {
    const option = `--${wrong.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    const remedy = embedded ? 'leave out one of the two' : 'add --embedded';
    throw new UsageError(
      embedded
        ? `${option}: not possible with --embedded; ${remedy}`
        : `${option}: only possible with --embedded; ${remedy}`,
    );
  }
  if (webhookPort !== undefined && webhookCerts === undefined) {
    const remedy = 'pass --webhook-certs';
    throw new UsageError(`--webhook-port: the webhooks need a certificate; ${remedy}`);
  }
}

export interface RunOptions extends ClusterOptions, ProcessOptions, LogOptions {
  /** A directory of the project. */
  readonly project: string;
  /** Namespaces to watch; undefined: all. */
  readonly namespace?: readonly string[] | undefined;
  readonly watch: boolean;
  readonly installCrds?: boolean | undefined;
  readonly webhookPort?: number | undefined;
  /** Folder with `tls.crt` and `tls.key`. */
  readonly webhookCerts?: string | undefined;
  readonly embedded?: boolean | undefined;
  readonly filename?: readonly string[] | undefined;
  readonly kubeconfigOut?: string | undefined;
  readonly port?: number | undefined;
  /** Give the operator all permissions, without its role. */
  readonly asAdmin?: boolean | undefined;
  readonly untilSettled?: boolean | undefined;
  /** Maximum time until the operator has nothing to do, in milliseconds. */
  readonly settleTimeout: number;
}
