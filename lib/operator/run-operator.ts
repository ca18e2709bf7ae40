import { setFlagsFromString } from 'node:v8';
import type { Client, ConnectedClient, KubeConfigClientOptions } from '../client/index.js';
import { defaultClient } from '../client/index.js';
import { bothOf } from '../controller/index.js';
import { readableMessage } from '../feed/index.js';
import {
  answerPosts,
  missingAccess,
  electionAccess,
  Manager,
  operatorWebhooks,
  certificateFiles,
  metricsCertificate,
  untilSignal,
} from '../manager/index.js';
import type {
  RequiredAccess,
  ManagerOptions,
  MetricsOptions,
  OperatorDefinition,
  CertificateSource,
  PostAnswer,
} from '../manager/index.js';
import type { KubernetesObject, TypeReference } from '../object/index.js';
import {
  OperatorError,
  asError,
  bothMetrics,
  withoutUndefined,
  registeredMetrics,
  silentLogger,
} from '../system/index.js';
import type { Logger } from '../system/index.js';
import { isPod, readCommandLine, usageOf, beginFeed, outputOf } from './command-line.js';
import type { CommandLine, FedRun, RunOutput, RunPlace } from './command-line.js';
import { unconverted, unconvertedCrds } from './unconverted-crds.js';

/** Options of {@link Operator.run}: those of a manager. Most defaults depend on where the operator runs. */
export interface OperatorRunOptions extends Omit<
  ManagerOptions,
  'client' | 'clusters' | 'name' | 'leaderElection'
> {
  /**
   * The client for all requests.
   * @defaultValue found as in controller-runtime: from `KUBECONFIG`, the Pod's account or `~/.kube/config`
   */
  readonly client?: Client | undefined;
  /** Stops the operator when aborted. @defaultValue SIGINT and SIGTERM stop it */
  readonly signal?: AbortSignal | undefined;
  /**
   * `false` turns leader election off. @defaultValue in a cluster whose role allows it, a Lease with the
   * operator's name
   */
  readonly leaderElection?: ManagerOptions['leaderElection'] | false;
  /**
   * Output format without a `logger`. `text`: a line on standard output for each changed object, Event and
   * failure, and warnings on standard error. `json`: JSON log lines on standard output.
   * @defaultValue `text` at a terminal outside of a cluster; else `json`
   */
  readonly logFormat?: 'text' | 'json' | undefined;
  /**
   * Answers `POST /plan` on the metrics server: what the operator would do for a changed custom resource, to
   * users who may change it. Needs metrics with `access: 'reviewed'`. @defaultValue false
   */
  readonly plan?: boolean | undefined;
}

/** The environment that an operator runs in. */
interface Place {
  readonly client: Client;
  readonly logger: Logger;
  /** True if the operator runs in a Pod and uses its service account. */
  readonly isCluster: boolean;
  /** The operator's own namespace; undefined if unknown. */
  readonly namespace: string | undefined;
  /** Undefined if metrics are off. */
  readonly registry: MetricsOptions['registry'];
  /** Aborted when the operator is to stop. */
  readonly signal: AbortSignal;
}

/** Runs an operator in a new manager; see `Operator.run`. */
export async function runOperator(
  operator: PlannedOperator,
  options: OperatorRunOptions,
  line: CommandLine = readCommandLine([]),
  run: RunPlace = process,
): Promise<void> {
  const { signal, logFormat, ...own } = options;
  let logger = silentLogger;
  const work = async (stopped: AbortSignal): Promise<void> => {
    const output = await outputOf({ ...own, logFormat }, line, run);
    ({ logger } = output);
    await runUntil(stopped, operator, { options: own, line, run, output });
  };
  // Install the signal handlers first: without a handler, a signal has no effect on a process with PID 1.
  await (signal === undefined ? untilSignal(work, () => logger) : work(signal));
}

/** A run with its output. */
interface StartedRun extends Omit<FedRun, 'manager' | 'options'> {
  readonly options: Omit<OperatorRunOptions, 'signal' | 'logFormat'>;
  readonly output: RunOutput;
}

async function runUntil(
  signal: AbortSignal,
  operator: PlannedOperator,
  { options, line, run, output: { logger, feed } }: StartedRun,
): Promise<void> {
  const { client: given, plan: answersPlans = line.plan, ...own } = options;
  const isCluster = given === undefined && isPod(line, run.env);
  const isMeasured = line.metrics && own.metrics !== false && (isCluster || namesMetrics(line));
  const { registry, metrics } = isMeasured ? await measured(own.metrics) : nothing;
  const { client, opened } = await clientOf(given, { path: line.kubeconfig, logger, metrics });
  const namespace = line.namespace ?? namespaceOf(opened?.defaultNamespace, isCluster);
  const place = { client, logger, isCluster, namespace, registry, signal };
  try {
    const { name, cacheOptions } = operator;
    const settings = await settingsOf(operator, line, place, own).catch((error: unknown) => {
      // A stop of the operator aborts the requests that check its permissions. That is not a failure.
      if (signal.aborted) return undefined;
      throw error;
    });
    if (settings === undefined) return;
    const { leaderElection: wanted = settings.leaderElection, shards, ...others } = own;
    const leaderElection = wanted === false ? undefined : wanted;
    const manager = new Manager({
      ...{ ...settings, cacheOptions, ...withoutUndefined(others), name, logger, leaderElection },
      client: feed?.observed(client) ?? client,
      onEvent: bothOf({ onEvent: feed?.onEvent, logger }, own.onEvent),
      metrics: settings.metrics,
      shards: leaderElection === undefined ? ownShards(shards, name, namespace) : shards,
    });
    await operator.setup(manager);
    if (answersPlans) await answerPlans(operator, manager, { ...place, metrics: settings.metrics });
    if (feed !== undefined) {
      const fed = { manager, options: { ...options, signal }, line, run };
      await beginFeed(feed, operator, fed);
    }
    void warnOfUnconverted(operator, place);
    await manager.run(signal);
  } finally {
    await opened?.close();
  }
}

/** Warns of CustomResourceDefinitions that were deployed without the address of their webhook. Never throws. */
async function warnOfUnconverted(
  operator: OperatorDefinition,
  { client, logger, signal }: Place,
): Promise<void> {
  try {
    for (const name of await unconvertedCrds(client, operator, signal)) {
      logger.warn(`${name} is ${unconverted}`);
    }
  } catch (error) {
    // The server may be unavailable when an operator starts.
    logger.debug('definitions not compared with the conversions', { error });
  }
}

/** An operator with a list of its kinds that can be planned. */
interface PlannedOperator extends OperatorDefinition {
  readonly plannedKinds: readonly TypeReference<KubernetesObject>[];
}

/** Answers requests for plans on the metrics server, which must check the permissions of its clients. */
async function answerPlans(
  operator: PlannedOperator,
  manager: Manager,
  { client, logger, metrics }: Place & { readonly metrics: ManagerOptions['metrics'] },
): Promise<void> {
  if (!metrics || metrics.access !== 'reviewed') {
    logger.warn('plans are off: they need authenticated metrics', { remedy: '--metrics-auth' });
    return;
  }
  const { clock } = manager;
  let answers: PostAnswer | undefined;
  answerPosts(manager, '/plan', async (question, access) => {
    // Loaded with the first plan: most operators never answer one.
    const { planAnswers } = await import('../plan/index.js');
    answers ??= planAnswers({ operator, kinds: operator.plannedKinds, client, clock });
    return answers(question, access);
  });
}

/**
 * Returns the shard options for an operator without leader election. Without `shards`, this process owns
 * every key.
 */
function ownShards(
  shards: ManagerOptions['shards'],
  name: string,
  namespace: string | undefined,
): ManagerOptions['shards'] {
  return shards === undefined || shards === false ? false : { name, namespace, ...shards };
}

/** Runs an operator as a program; see `Operator.main`. */
export async function operatorMain(
  operator: PlannedOperator,
  args: readonly string[],
  options: OperatorRunOptions,
): Promise<void> {
  try {
    const line = readCommandLine(args);
    if (line.help) {
      process.stdout.write(usageOf(operator.name));
      return;
    }
    useLessMemoryAndCpu();
    await runOperator(operator, options, line);
  } catch (error) {
    process.stderr.write(`${readableMessage(asError(error))}\n`);
    process.exitCode = 1;
    // A caller with a signal of its own ends its process itself.
    if (options.signal === undefined) exitSoon();
  }
}

/** Time for output to be written after a failure before the process ends, in milliseconds. */
const leftoverMs = 1_000;

/**
 * Ends the process soon after the operator has failed. Otherwise a reconcile that ignores its signal would keep the
 * process alive, without leadership and probes.
 */
function exitSoon(): void {
  const exit = (): void => {
    // A test that calls `main` may have reset the exit code, and must not be ended.
    if (process.exitCode === 1) process.exit();
  };
  // eslint-disable-next-line no-restricted-globals -- a timer of the Clock would keep the process alive, too
  setTimeout(exit, leftoverMs).unref();
}

const v8Flags = [
  // By default, V8 lets a small heap grow to four times its live size before it collects. Most of an
  // operator's heap is garbage of reconciles: with growth of 50 % it needs a third less memory for the same
  // CPU time.
  '--heap-growing-percent=50',
  // The HTTP parser is WebAssembly. Optimizing it takes 40 MB without a measurable gain for an operator.
  '--liftoff-only',
  ...flagsOfNode20(),
];

/**
 * V8 of Node.js 20 optimizes a function after it has run 132,000 bytes of code. An operator runs many functions a few
 * times each, so that optimizing most of them costs more than it saves: with this limit, 500 resources that are created
 * cost 15 % less CPU time and 10 MB less memory. Later versions of V8 have a cheaper first optimizer, and no such flag.
 */
function flagsOfNode20(): readonly string[] {
  return process.versions.node.startsWith('20.') ? ['--interrupt-budget=400000'] : [];
}

/** Sets V8 flags for the whole process; only `main` may do so. Flags of the Node.js command line win. */
function useLessMemoryAndCpu(): void {
  const given = process.execArgv.map((arg) => arg.replaceAll('_', '-').split('=')[0]);
  const flags = v8Flags.filter((flag) => !given.includes(flag.split('=')[0]));
  for (const flag of flags) setFlagsFromString(flag);
}

function namespaceOf(account: string | undefined, isCluster: boolean): string | undefined {
  const { POD_NAMESPACE = '' } = process.env;
  if (POD_NAMESPACE !== '') return POD_NAMESPACE;
  return isCluster ? account : undefined;
}

/** Returns the client, and the connected client to close if one was opened. */
async function clientOf(
  given: Client | undefined,
  options: KubeConfigClientOptions,
): Promise<{ readonly client: Client; readonly opened?: ConnectedClient }> {
  if (given !== undefined) return { client: given };
  const opened = await defaultClient(options);
  return { client: opened, opened };
}

const nothing = { registry: undefined, metrics: undefined };

/** Whether an option of the metrics is given: outside a cluster, they are served on request only. */
function namesMetrics({ metricsPort, metricsAuth, metricsCertDir }: CommandLine): boolean {
  return [metricsPort, metricsAuth, metricsCertDir].some((given) => given !== undefined);
}

/** Returns the registry of the options, else a new one, and what counts the requests of the client in it. */
async function measured(own: ManagerOptions['metrics']) {
  const [{ Registry }, { promMetrics }, collected] = await Promise.all([
    import('prom-client'),
    import('../prometheus/index.js'),
    registeredMetrics(),
  ]);
  const registry = (own === false ? undefined : own?.registry) ?? new Registry();
  return { registry, metrics: bothMetrics(promMetrics(registry), collected) };
}

type Settings = Pick<ManagerOptions, 'health' | 'metrics' | 'webhooks' | 'leaderElection'>;

/**
 * Returns the settings that follow from the command line and from where the operator runs. Options in `own` take
 * precedence, so their settings are not looked up.
 */
async function settingsOf(
  operator: OperatorDefinition,
  line: CommandLine,
  place: Place,
  own: Pick<OperatorRunOptions, 'leaderElection' | 'metrics'>,
): Promise<Settings> {
  const { client, logger, isCluster, namespace } = place;
  const { healthPort, webhookPort: port, webhookCertDir: certificateFolder } = line;
  const [leaderElection, metrics] = await Promise.all([
    own.leaderElection === undefined ? electionOf(operator, line, place) : undefined,
    completeMetrics(operator, line, place, own.metrics),
  ]);
  const webhooks = { client, namespace, port, certificateFolder, logger };
  return {
    ...{ leaderElection, metrics },
    health: isCluster || healthPort !== undefined ? { port: healthPort } : false,
    webhooks: line.webhooks ? operatorWebhooks(operator, webhooks) : undefined,
  };
}

async function electionOf(
  { name }: OperatorDefinition,
  { leaderElect }: CommandLine,
  place: Place,
): Promise<ManagerOptions['leaderElection']> {
  const { isCluster, namespace } = place;
  if (leaderElect === false || (leaderElect === undefined && !isCluster)) return undefined;
  if (namespace === undefined) {
    if (leaderElect === undefined) return undefined;
    const remedy = 'give --namespace, or set the variable POD_NAMESPACE';
    throw new OperatorError(
      'InvalidOption',
      `--leader-elect: the namespace is not known; ${remedy}`,
    );
  }
  const election = { name, namespace };
  if (leaderElect === true) return election;
  const isAllowed = await mayDo('leader election', electionAccess(election), place);
  return isAllowed ? election : undefined;
}

/**
 * Adds to the options what they leave open: the registry, the port, and access control with its certificate. Options
 * that name the access or the certificate get no default for the other, so that HTTP to everyone stays possible.
 */
async function completeMetrics(
  operator: OperatorDefinition,
  line: CommandLine,
  place: Place,
  own: ManagerOptions['metrics'],
): Promise<ManagerOptions['metrics']> {
  if (own === undefined || own === false) return own ?? metricsOf(operator, line, place);
  const given = withoutUndefined(own);
  if (!line.metrics) return { serve: false, ...given };
  const { access, certificate, serve, port: metricsPort = line.metricsPort } = own;
  const isDecided = access !== undefined || certificate !== undefined || serve === false;
  if (isDecided) return { registry: place.registry, ...given };
  const found = await metricsOf(operator, { ...line, metricsPort }, place);
  return found === false ? given : { ...found, ...given };
}

async function metricsOf(
  { name }: OperatorDefinition,
  line: CommandLine,
  place: Place,
): Promise<MetricsOptions | false> {
  const { registry, namespace, client, isCluster } = place;
  const { metricsPort, metricsAuth, metricsCertDir: folder } = line;
  if (registry === undefined) return false;
  if (metricsAuth === true && namespace === undefined && folder === undefined) {
    const remedy = 'give --namespace, or --metrics-cert-dir';
    throw new OperatorError(
      'InvalidOption',
      `--metrics-auth: the namespace is not known; ${remedy}`,
    );
  }
  const own = namespace === undefined ? undefined : metricsCertificate({ namespace, name }, client);
  const certificate = folder === undefined ? own : certificateFiles({ folder });
  const wantsReview = metricsAuth ?? isCluster;
  const isReviewed =
    wantsReview &&
    certificate !== undefined &&
    (metricsAuth === true ||
      (await mayDo('authenticated metrics', reviewAccess(certificate), place)));
  if (isReviewed) return { registry, port: metricsPort ?? 8443, access: 'reviewed', certificate };
  // Without the rights to review callers, a cluster serves metrics only if a port is given or metricsAuth is false.
  const isWanted = metricsPort !== undefined || metricsAuth === false || !isCluster;
  const plain = folder === undefined ? {} : { certificate };
  return isWanted ? { registry, port: metricsPort ?? 8080, ...plain } : { registry, serve: false };
}

function reviewAccess({ access = [] }: CertificateSource): readonly RequiredAccess[] {
  const review = (group: string, kind: string, plural: string): RequiredAccess => ({
    type: { group, version: 'v1', kind, plural, namespaced: false },
    verbs: ['create'],
  });
  return [
    review('authentication.k8s.io', 'TokenReview', 'tokenreviews'),
    review('authorization.k8s.io', 'SubjectAccessReview', 'subjectaccessreviews'),
    ...access,
  ];
}

/** Returns whether the operator's role allows `access`; logs the missing rights as a warning. */
async function mayDo(
  what: string,
  access: readonly RequiredAccess[],
  { client, logger, signal }: Place,
): Promise<boolean> {
  const missing = await missingAccess(client, access, signal);
  if (missing.length === 0) return true;
  const rights = missing.map(({ verb, resource, group }) =>
    group === '' ? `${verb} ${resource}` : `${verb} ${resource}.${group}`,
  );
  logger.warn(`${what} is off: the role lacks rights`, { missing: rights });
  return false;
}
