import { parseArgs } from 'node:util';
import { defaultCluster } from '../client/index.js';
import type { Environment } from '../client/index.js';
import type { OperatorFeed, TextOutput } from '../feed/index.js';
import { clusterText, usesColors } from '../feed/index.js';
import type { Manager, OperatorDefinition } from '../manager/index.js';
import { systemClock, OperatorError, pinoLogger } from '../system/index.js';
import type { Logger } from '../system/index.js';
import type { OperatorRunOptions } from './run-operator.js';

const levels = ['debug', 'info', 'warn', 'error'] as const;

const formats = ['text', 'json'] as const;

/** Severities of log lines. */
export type LogLevel = (typeof levels)[number];
/** Output of an operator: a feed with text lines for people, or JSON lines for programs. */
type LogFormat = (typeof formats)[number];

/** Parsed command-line options; undefined if not given. */
export interface CommandLine {
  readonly help: boolean;
  readonly kubeconfig: string | undefined;
  readonly namespace: string | undefined;
  readonly leaderElect: boolean | undefined;
  readonly healthPort: number | undefined;
  readonly metrics: boolean;
  readonly metricsPort: number | undefined;
  readonly metricsAuth: boolean | undefined;
  readonly metricsCertDir: string | undefined;
  readonly plan: boolean;
  readonly webhooks: boolean;
  readonly webhookPort: number | undefined;
  readonly webhookCertDir: string | undefined;
  readonly logLevel: LogLevel | undefined;
  readonly logFormat: LogFormat | undefined;
}

/** Returns the help text of the operator `name`. */
export function usageOf(name: string): string {
  return `Usage: ${name} [options]

  --kubeconfig FILE        the cluster to work on (default: KUBECONFIG, in-cluster, or ~/.kube/config)
  --namespace NAME         namespace of the operator: of its Lease, its certificates, the Service of its
                           webhooks (default: POD_NAMESPACE, or that of the Pod's account)
  --leader-elect           let one of several replicas work (default in a cluster, where the role allows it)
  --no-leader-elect        work at once
  --health-port PORT       serve /healthz and /readyz (default in a cluster: 8081)
  --metrics-port PORT      serve /metrics (default in a cluster: 8443, 8080 without --metrics-auth)
  --metrics-auth           serve HTTPS, to callers that may get /metrics (default in a cluster)
  --no-metrics-auth        serve HTTP to everyone
  --metrics-cert-dir DIR   folder of tls.crt and tls.key (default: the operator makes a certificate)
  --no-metrics             serve no metrics
  --plan                   answer POST /plan beside the metrics, to callers that may change the resource;
                           needs --metrics-auth
  --webhook-port PORT      serve the webhooks, if there are any (default: 9443)
  --webhook-cert-dir DIR   folder of tls.crt and tls.key (default: the operator makes a certificate)
  --no-webhooks            serve no webhooks
  --log-level LEVEL        debug, info, warn or error (default: warn with --log-format text, else info)
  --log-format FORMAT      text: a line for each change and failure; json: JSON lines (default: text at a
                           terminal, json elsewhere and in a cluster)
  --help                   show this
`;
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const off = { type: 'boolean', default: false } as const;
const on = { type: 'boolean', default: true } as const;
const options = {
  ...{ kubeconfig: text, namespace: text, 'leader-elect': flag, 'health-port': text },
  ...{ metrics: on, 'metrics-port': text, 'metrics-auth': flag },
  ...{ 'metrics-cert-dir': text, plan: off, webhooks: on },
  ...{ 'webhook-port': text, 'webhook-cert-dir': text },
  ...{ 'log-level': text, 'log-format': text },
  help: off,
} as const;

/**
 * Reads the command line of an operator that runs as a program.
 * @throws OperatorError `InvalidOption`: an option is unknown, or its value is invalid.
 */
export function readCommandLine(args: readonly string[]): CommandLine {
  const values = valuesOf(args);
  return {
    help: values.help,
    kubeconfig: values.kubeconfig,
    namespace: values.namespace,
    leaderElect: values['leader-elect'],
    healthPort: portOf('--health-port', values['health-port']),
    metrics: values.metrics,
    metricsPort: portOf('--metrics-port', values['metrics-port']),
    metricsAuth: values['metrics-auth'],
    metricsCertDir: values['metrics-cert-dir'],
    plan: values.plan,
    webhooks: values.webhooks,
    webhookPort: portOf('--webhook-port', values['webhook-port']),
    webhookCertDir: values['webhook-cert-dir'],
    logLevel: oneOf('--log-level', levels, values['log-level']),
    logFormat: oneOf('--log-format', formats, values['log-format']),
  };
}

/** Returns whether the process runs in a Pod and connects to that Pod's cluster. */
export function isPod(
  { kubeconfig }: CommandLine,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const { KUBECONFIG = '', KUBERNETES_SERVICE_HOST = '' } = env;
  return kubeconfig === undefined && KUBECONFIG === '' && KUBERNETES_SERVICE_HOST !== '';
}

function valuesOf(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowNegative: true }).values;
  } catch (cause) {
    const message = `${(cause as Error).message}; --help shows the options`;
    throw new OperatorError('InvalidOption', message, { cause });
  }
}

function portOf(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return Number(given);
  throw new OperatorError('InvalidOption', `${option}: want 0 to 65535, got ${given}`);
}

function oneOf<T extends string>(
  option: string,
  allowed: readonly T[],
  given: string | undefined,
): T | undefined {
  const found = allowed.find((each) => each === given);
  if (given === undefined || found !== undefined) return found;
  const message = `${option}: want ${allowed.join(', ')}, got ${given}`;
  throw new OperatorError('InvalidOption', message);
}

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
    throw new OperatorError(
      'InvalidOption',
      `Operator.run: logFormat and logger exclude each other; ${remedy}`,
    );
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

/** Prints the head of a feed, and a line when the operator has started. */
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
