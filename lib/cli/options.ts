import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { ClientSettings, ConnectedClient } from '../client/index.js';
import { parseDuration } from '../crd/internal.js';
import { clusterText, readableMessage, usesColors } from '../feed/index.js';
import type { TextOutput } from '../feed/index.js';
import type { ManagerOptions } from '../manager/index.js';
import { dns1123LabelProblem, dns1123SubdomainProblem, forbiddenRemedy } from '../object/index.js';
import { OperatorError, asError } from '../system/index.js';
import type { Logger } from '../system/index.js';
import { UsageError } from './command-context.js';
import type { CommandContext } from './command-context.js';

/** Options that select a cluster. */
export interface ClusterOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly as?: string | undefined;
  readonly asGroup?: readonly string[] | undefined;
}

/** Adds `--kubeconfig`, `--context`, `--as` and `--as-group`. */
export function addClusterOptions(command: Command): Command {
  return command
    .option(
      '--kubeconfig <file>',
      'kubeconfig of the cluster (default: KUBECONFIG, the service account of the pod, or ~/.kube/config)',
    )
    .option('--context <name>', 'context in the kubeconfig (default: its current context)')
    .option(
      '--as <user>',
      'user whose rights to use, such as system:serviceaccount:<namespace>:<name>',
    )
    .option(
      '--as-group <group>',
      'group of that user; repeat it for more',
      (group: string, before?: readonly string[]) => [...(before ?? []), group],
    );
}

/**
 * Returns the client of the selected cluster.
 * @throws OperatorError `InvalidKubeConfig`: no cluster is configured, or the file is invalid
 * @throws UsageError `--as-group` without `--as`
 */
export async function clusterClient(
  options: ClusterOptions,
  { env }: CommandContext,
  logger: Logger,
  settings: ClientSettings = {},
): Promise<ConnectedClient> {
  const { kubeconfig: path, context } = options;
  const { defaultClient } = await import('../client/index.js');
  const impersonate = impersonationOf(options);
  return defaultClient({ ...settings, path, context, env, logger, impersonate });
}

function impersonationOf({
  as: user,
  asGroup: groups,
}: ClusterOptions): ClientSettings['impersonate'] {
  if (user !== undefined) return { user, groups };
  if (groups === undefined) return undefined;
  throw new UsageError('--as-group needs --as <user>');
}

/**
 * Returns the name of the cluster that {@link clusterClient} connects to:
 * `context kind-dev: https://127.0.0.1:6443`.
 */
export async function clusterName(
  { kubeconfig: path, context }: ClusterOptions,
  { env }: CommandContext,
): Promise<string> {
  const { defaultCluster } = await import('../client/index.js');
  return clusterText(await defaultCluster({ path, context, env }));
}

/** Options of a process that runs operators. */
export interface ProcessOptions {
  readonly healthPort?: number | undefined;
  readonly metricsPort?: number | undefined;
  readonly leaderElection?: NamespacedName | undefined;
}

/** A namespace and a name, as `namespace/name`. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** Adds `--health-port`, `--metrics-port` and `--leader-election`. */
export function addProcessOptions(command: Command): Command {
  return command
    .option(
      '--health-port <port>',
      'port that serves /healthz and /readyz (default: not served)',
      portOf,
    )
    .option('--metrics-port <port>', 'port that serves /metrics (default: not served)', portOf)
    .addOption(
      new Option(
        '--leader-election <namespace/name>',
        'Lease for leader election: of several replicas one is active at a time',
      ).argParser(namespacedNameOf),
    );
}

export function managerOptionsOf({
  healthPort,
  metricsPort,
  leaderElection,
}: ProcessOptions): Pick<ManagerOptions, 'health' | 'metrics' | 'leaderElection'> {
  return {
    health: healthPort === undefined ? false : { port: healthPort },
    metrics: metricsPort === undefined ? false : { port: metricsPort },
    leaderElection,
  };
}

/** Parses `namespace/name`. */
export function namespacedNameOf(text: string): NamespacedName {
  const [namespace = '', name = '', ...others] = text.split('/');
  const wellFormed =
    dns1123LabelProblem(namespace) === undefined && dns1123SubdomainProblem(name) === undefined;
  if (wellFormed && others.length === 0) return { namespace, name };
  throw new InvalidArgumentError('Want a namespace and a name, such as shop/operator.');
}

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const formats = ['text', 'json'] as const;

export interface LogOptions {
  readonly logLevel: (typeof levels)[number];
  /** The format of log lines. @defaultValue `text` if the standard error is a terminal, else `json` */
  readonly logFormat?: (typeof formats)[number] | undefined;
}

export function logLevelOption(): Option {
  return new Option('--log-level <level>', 'minimum level of log lines on the standard error')
    .choices(levels)
    .default('info');
}

export function logFormatOption(): Option {
  const what = 'format of log lines (default: text at a terminal, else json)';
  return new Option('--log-format <format>', what).choices(formats);
}

/** Whether log lines are text for people. */
export function logsText({ logFormat }: LogOptions, { stderr }: CommandContext): boolean {
  return (logFormat ?? (stderr.columns === undefined ? 'json' : 'text')) === 'text';
}

export async function commandLogger(options: LogOptions, context: CommandContext): Promise<Logger> {
  const { stderr, env } = context;
  const { logLevel: level } = options;
  const write = (line: string): void => void stderr.write(line);
  if (logsText(options, context)) {
    const { textLogger } = await import('../feed/index.js');
    return textLogger({ level, write, color: usesColors(context, stderr) });
  }
  const { pinoLogger } = await import('../system/index.js');
  const stacks = level === 'debug' || env['OPERATOR_BUILDER_DEBUG'] !== undefined;
  return pinoLogger({ level, destination: { write }, stacks });
}

export const outputs = ['text', 'json'] as const;

/** Formats of a command's result. */
export type Output = (typeof outputs)[number];

/** Returns the option `--output`: text for people or JSON for programs. */
export function outputOption(): Option {
  return new Option('--output <format>', 'format of the result: text or JSON')
    .choices(outputs)
    .default('text');
}

export function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError('Want a port, 0 to 65535.');
}

/** Parses a number of days, at least one. */
export function daysOf(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Want a number of days, at least 1.');
}

/** Parses a duration in Go's format; returns milliseconds. */
export function durationMsOf(text: string): number {
  const duration = parseDuration(text);
  if (duration !== undefined && duration.nanos > 0n) return Number(duration.nanos) / 1e6;
  throw new InvalidArgumentError('Want a duration above 0, for example 90m or 24h.');
}

/** Collects comma-separated names of an option that can be repeated. */
export function namesOf(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) {
    throw new InvalidArgumentError('Want names, separated by commas.');
  }
  return [...before, ...names];
}

/** Collects namespaces as {@link namesOf} does, each once; `*` means all namespaces. */
export function namespacesOf(text: string, before?: readonly string[]): readonly string[] {
  const names = namesOf(text, before);
  for (const name of names) {
    const problem = name === '*' ? undefined : dns1123LabelProblem(name);
    if (problem === undefined) continue;
    throw new InvalidArgumentError(`The namespace ${problem}.`);
  }
  return [...new Set(names)];
}

/** Collects namespaces as {@link namespacesOf} does, without `*`. */
export function watchedNamespacesOf(text: string, before?: readonly string[]): readonly string[] {
  const names = namespacesOf(text, before);
  if (!names.includes('*')) return names;
  throw new InvalidArgumentError(
    'Want names of namespaces; without the option, all namespaces are watched.',
  );
}

/** Returns the examples at the end of a help text: command lines with descriptions. */
export function helpExamples(examples: Readonly<Record<string, string>>): string {
  const lines = Object.entries(examples).map(([line, what]) => `  $ ${line}\n      ${what}`);
  return `\nExamples:\n${lines.join('\n')}`;
}

/** Advice for a user if the API server refuses a request of `plan`. */
export const planRemedy =
  'the plan has the rights of your kubeconfig or of --as, and needs those of the operator: choose an account that has them, with --context or --as';

/** Advice for a user if the API server refuses a request of the operator in `run`. */
export const runRemedy =
  'the operator runs with the rights of your kubeconfig or of --as: choose an account that has the rights it needs, with --context or --as';

/**
 * Returns the error of a command that has the rights of the user's account. If the API server refused a request,
 * the message ends with `remedy` instead of the remedy for a deployed operator.
 */
export function accountError(thrown: unknown, remedy: string): Error {
  const error = asError(thrown);
  const message = readableMessage(error);
  if (!message.includes(forbiddenRemedy)) return error;
  const said = message.replaceAll(forbiddenRemedy, remedy);
  return new OperatorError('MissingPermission', said, { cause: error });
}

/**
 * Returns the context of a command that has the rights of the user's account. If the API server refused a request, the
 * error in the output ends with `remedy` instead of the remedy for a deployed operator.
 */
export function accountContext(context: CommandContext, remedy: string): CommandContext {
  const corrected = (output: TextOutput): TextOutput => ({
    get columns() {
      return output.columns;
    },
    write: (text) => output.write(text.replaceAll(forbiddenRemedy, remedy)),
  });
  const { stdout, stderr } = context;
  return { ...context, stdout: corrected(stdout), stderr: corrected(stderr) };
}
