import type { Client } from '../../client/index.js';
import { EmbeddedCluster } from '../../apiserver/index.js';
import type { KubernetesObject, UnstructuredObject, TypeReference } from '../../object/index.js';
import type { Clock, Resolved, Random } from '../../system/index.js';
import {
  OperatorError,
  refuseUnknownOptions,
  seededRandom,
  VirtualClock,
} from '../../system/index.js';
import type { LeftOverCheck } from '../left-overs.js';
import { startStep } from './crash-point.js';

/** The cluster of a scenario: an `EmbeddedCluster`, or any object with these members. */
export interface CrashCluster {
  /** The clock of the cluster. The scenario advances a `VirtualClock`, and waits with any other. */
  readonly clock: Clock;
  /** The only namespace whose objects are compared. @defaultValue all namespaces */
  readonly namespace?: string | undefined;
  client(options?: { readonly user?: string | undefined }): Client;
  /** Resolves when the cluster's own controllers have no work left. @defaultValue no wait */
  settled?(): Promise<void>;
  /** Stops the cluster at the end of a run. */
  stop(): Promise<void>;
}

/** The cluster of a scenario without `cluster`. */
export type DefaultCrashCluster = EmbeddedCluster<VirtualClock>;

/** Arguments for the functions of a {@link CrashScenario}: a fresh cluster for each run. */
export interface CrashStage<C extends CrashCluster = DefaultCrashCluster> {
  readonly cluster: C;
  /** The administrator's client: its requests are not counted, and it never dies. */
  readonly client: Client;
}

/** Arguments for the operator of a {@link CrashScenario}. */
export interface OperatorStage<C extends CrashCluster = DefaultCrashCluster> {
  readonly cluster: C;
  /** Counts requests, and dies at the crash point: every later call throws `Stopped`. */
  readonly client: Client;
  /** Aborted when the operator has to stop, and right after a crash. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** A source of random values, with the same sequence in every run. */
  readonly random: Random;
}

/** A change of a cluster, and the result that the operator has to reach. */
export interface CrashStep<C extends CrashCluster = DefaultCrashCluster> {
  /** The name of the step in failures; unique in its scenario. */
  readonly name: string;
  /** Makes the change, with the administrator's client. */
  readonly change: (stage: CrashStage<C>) => Promise<unknown>;
  /** Throws or returns false until the step is complete. */
  readonly until: (stage: CrashStage<C>) => Promise<unknown>;
}

/**
 * The life of an operator, for `crashPoints` and `faultSweep` to interrupt: setup, start, then step by step.
 * It has to act the same in every run, so take time and random values from the stage.
 */
export interface CrashScenario<C extends CrashCluster = DefaultCrashCluster> {
  /** The name of the scenario in failures. */
  readonly name: string;
  /**
   * Creates a fresh cluster for each run.
   * @defaultValue an `EmbeddedCluster` that simulates workloads, on a `VirtualClock`
   */
  readonly cluster?: (() => Promise<C>) | undefined;
  /** Prepares the cluster before the operator starts: custom resource definitions, namespaces. */
  readonly setup?: ((stage: CrashStage<C>) => Promise<unknown>) | undefined;
  /**
   * Ends what belongs to a run besides the cluster, such as a server that simulates an outside system. Called
   * at the end of each run, also of a failed one: after the operator, before the cluster stops.
   */
  readonly teardown?: ((stage: CrashStage<C>) => Promise<unknown>) | undefined;
  /**
   * Runs the operator until `signal` is aborted. Called at the start, and again after a crash, so keep no
   * state in memory between calls. An error before the signal is aborted is a failure.
   */
  readonly operator: (stage: OperatorStage<C>) => Promise<void>;
  readonly steps: readonly CrashStep<C>[];
  /**
   * Kinds whose objects have to be the same in the end, besides those that the operator writes.
   * @defaultValue none
   */
  readonly kinds?: readonly TypeReference<KubernetesObject>[] | undefined;
  /** Kinds to ignore: their objects, and requests for them. @defaultValue Event and Lease */
  readonly ignoredKinds?: readonly string[] | undefined;
  /**
   * Changes an object before it is compared, for example removes fields. Times, UIDs and versions are already
   * removed.
   */
  readonly comparable?: ((object: UnstructuredObject) => UnstructuredObject) | undefined;
  /**
   * Checks a property that holds at any time, from the server's view. Called after a crash, before the
   * operator restarts, and after each step. Throws if the property does not hold.
   */
  readonly invariant?: ((stage: CrashStage<C>) => Promise<unknown>) | undefined;
  /** The timeout of a step by the cluster's clock, in milliseconds. @defaultValue 600_000 */
  readonly timeoutMs?: number | undefined;
  /** The time without any write that has to follow a step, in milliseconds. @defaultValue 60_000 */
  readonly steadyMs?: number | undefined;
}

/** A {@link CrashScenario} with all defaults. */
export interface ResolvedScenario<C extends CrashCluster> extends Resolved<
  Omit<CrashScenario<C>, 'setup' | 'teardown' | 'invariant'>
> {
  readonly setup: CrashScenario<C>['setup'];
  readonly teardown: CrashScenario<C>['teardown'];
  readonly invariant: CrashScenario<C>['invariant'];
  readonly leftOvers: LeftOverCheck | undefined;
}

/**
 * Fills in the defaults.
 * @param leftOvers - checked at the end of each run
 * @throws OperatorError `InvalidOption`: a number is out of its range, two steps share a name, or a field is unknown.
 */
export function resolveScenario<C extends CrashCluster>(
  scenario: CrashScenario<C>,
  leftOvers?: LeftOverCheck,
): ResolvedScenario<C> {
  const { name, operator, steps, setup, teardown, invariant, kinds = [] } = scenario;
  const { ignoredKinds = ['Event', 'Lease'], timeoutMs = 600_000, steadyMs = 60_000 } = scenario;
  const { comparable = (object: UnstructuredObject) => object } = scenario;
  // A scenario without `cluster` has the type of the default cluster.
  const { cluster = defaultCluster as () => Promise<CrashCluster> as () => Promise<C> } = scenario;
  for (const [option, value] of Object.entries({ timeoutMs, steadyMs })) {
    if (value >= 1) continue;
    throw new OperatorError('InvalidOption', `${name}: ${option}: want at least 1, got ${value}`);
  }
  const names = [startStep, ...steps.map((step) => step.name)];
  const twice = names.find((each, at) => names.indexOf(each) !== at);
  if (twice !== undefined) {
    throw new OperatorError(
      'InvalidOption',
      `${name}: two steps are called ${twice}; give one of them another name`,
    );
  }
  const resolved = {
    ...{ name, operator, steps, setup, teardown, invariant, kinds },
    ...{ ignoredKinds, timeoutMs, steadyMs, comparable, cluster },
  };
  refuseUnknownOptions<CrashScenario<C>>(name, scenario, resolved);
  return { ...resolved, leftOvers };
}

function defaultCluster(): Promise<EmbeddedCluster<VirtualClock>> {
  const clock = new VirtualClock();
  // Comparisons ignore Events, and a run is faster if the cluster's controllers write none.
  const options = { simulateWorkloads: true, controllers: { events: false } };
  return EmbeddedCluster.start({ ...options, clock, random: seededRandom(1) });
}
