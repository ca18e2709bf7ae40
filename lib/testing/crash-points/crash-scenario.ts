import type { Client } from '../../client/client.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import type { TypeReference } from '../../object/resource-type.js';
import type { EmbeddedCluster } from '../../embedded/embedded-cluster.js';
import type { Clock } from '../../system/clock.js';
import type { Random } from '../../system/random.js';
import type { VirtualClock } from '../../system/virtual-clock.js';

/** What a scenario is played on: an `EmbeddedCluster`, or anything with these. */
export interface CrashCluster {
  /** Time of a `VirtualClock` is moved on as the scenario needs it; any other is waited for. */
  readonly clock: Clock;
  /** Only objects of this namespace are compared. @defaultValue everywhere */
  readonly namespace?: string | undefined;
  client(options?: { readonly user?: string | undefined }): Client;
  /** Resolves when the cluster's own controllers have nothing left to do. @defaultValue not waited for */
  settled?(): Promise<void>;
  /** Called when the scenario is over. */
  stop(): Promise<void>;
}

/** The cluster that a scenario gets that makes none of its own. */
export type DefaultCrashCluster = EmbeddedCluster<VirtualClock>;

/** What the functions of a {@link CrashScenario} are handed: a fresh cluster for each run. */
export interface CrashStage<C extends CrashCluster = DefaultCrashCluster> {
  readonly cluster: C;
  /** The administrator's: its requests are not counted, and it never dies. */
  readonly client: Client;
}

/** What the operator of a {@link CrashScenario} is handed. */
export interface OperatorStage<C extends CrashCluster = DefaultCrashCluster> {
  readonly cluster: C;
  /** Counts requests, and dies at the crash point: from there on every call throws `Stopped`. */
  readonly client: Client;
  /** Aborted when the operator has to end, and right after it has died. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The same sequence in every run. */
  readonly random: Random;
}

/** Something that happens to a cluster, and what the operator makes of it. */
export interface CrashStep<C extends CrashCluster = DefaultCrashCluster> {
  /** Names the step in failures; unique in its scenario. */
  readonly name: string;
  /** What somebody does, by the administrator's client. */
  readonly change: (stage: CrashStage<C>) => Promise<unknown>;
  /** Whether it has been carried out: throws, or returns false, until it has. */
  readonly until: (stage: CrashStage<C>) => Promise<unknown>;
}

/**
 * The life of an operator to be interrupted by `crashPoints` and `faultSweep`: setup, start, then step by step.
 * It has to do the same each time that it is played: take time and chance from the stage.
 */
export interface CrashScenario<C extends CrashCluster = DefaultCrashCluster> {
  /** Names the scenario in failures. */
  readonly name: string;
  /**
   * Makes a fresh cluster for each run.
   * @defaultValue an `EmbeddedCluster` that simulates workloads, on a `VirtualClock`
   */
  readonly cluster?: (() => Promise<C>) | undefined;
  /** What has to be there before the operator starts: custom resource definitions, namespaces. */
  readonly setup?: ((stage: CrashStage<C>) => Promise<unknown>) | undefined;
  /**
   * Runs the operator until `signal` is aborted. Called once at the start, and again after a crash:
   * nothing in memory may outlive it. What it throws before the signal is aborted is a failure.
   */
  readonly operator: (stage: OperatorStage<C>) => Promise<void>;
  readonly steps: readonly CrashStep<C>[];
  /**
   * Kinds whose objects have to be the same in the end, beside those that the operator writes.
   * @defaultValue none
   */
  readonly kinds?: readonly TypeReference<KubernetesObject>[] | undefined;
  /**
   * Kinds that do not count, neither their objects nor requests for them.
   * @defaultValue Event and Lease
   */
  readonly ignoredKinds?: readonly string[] | undefined;
  /** The last word on what of an object is compared; times, UIDs and versions are out already. */
  readonly comparable?: ((object: UnstructuredObject) => UnstructuredObject) | undefined;
  /**
   * What holds at any time, by the server: looked at when the operator has died, before the next one
   * starts, and after each step. Throws where it does not hold.
   */
  readonly invariant?: ((stage: CrashStage<C>) => Promise<unknown>) | undefined;
  /** How long a step may take by the cluster's clock, in milliseconds. @defaultValue 600_000 */
  readonly timeoutMs?: number | undefined;
  /**
   * How long nothing must be written once a step is carried out, in milliseconds.
   * @defaultValue 60_000
   */
  readonly steadyMs?: number | undefined;
}
