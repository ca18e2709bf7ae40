import type { ClaimOptions, ObjectResult, Stage } from '../apply/index.js';
import { describeObject, apiVersionOf } from '../object/index.js';
import type { KubernetesObject } from '../object/index.js';
import { OperatorError, nextTurn } from '../system/index.js';
import type { InternalStore } from '../store/index.js';
import { resolveBuilderOptions } from './builder-options.js';
import type { BuilderOptions, BuilderSettings } from './builder-options.js';
import type { ChainedName, ChainNames, NoNames, Owning, WithName } from './chain-names.js';
import { droppedLink, endsOf, strayProblem, takeDropped, unusedProblem } from './chain-end.js';
import type { ChainEnd } from './chain-end.js';
import { configMapLink, secretLink } from './kinds/configuration.js';
import type { ConfigMapOptions, SecretOptions } from './kinds/configuration.js';
import { cronJobLink, jobLink } from './kinds/jobs.js';
import type { CronJobOptions, JobOptions } from './kinds/jobs.js';
import { anyObjectLink } from './kinds/object-link.js';
import {
  horizontalPodAutoscalerLink,
  ingressLink,
  networkPolicyLink,
  persistentVolumeClaimLink,
  podDisruptionBudgetLink,
  roleBindingLink,
  roleLink,
  serviceAccountLink,
  serviceLink,
} from './kinds/specified.js';
import type {
  HorizontalPodAutoscalerOptions,
  IngressOptions,
  NetworkPolicyOptions,
  PersistentVolumeClaimOptions,
  PodDisruptionBudgetOptions,
  RoleBindingOptions,
  RoleOptions,
  ServiceAccountOptions,
  ServiceOptions,
} from './kinds/specified.js';
import { daemonSetLink, deploymentLink, statefulSetLink } from './kinds/workloads.js';
import type { DaemonSetOptions, DeploymentOptions, StatefulSetOptions } from './kinds/workloads.js';
import { readLink } from './link.js';
import type { ChainedLink } from './link.js';
import type { Plan } from './plan.js';
import { Run } from './run.js';
import { SettledCheck } from './settled.js';

// Returns the private `#end` of a chain. The class below sets this function, because only code in the class can read
// `#end`.
let endOf: (chain: Builder) => ChainEnd;

/**
 * Declares the objects of an owner and applies them. A chain is immutable: every link returns a new Builder
 * with one more object. Nothing is read or written before `plan` or one of the `reconcile` methods is called.
 * `Names` holds the chained names, so that a typo does not compile; see {@link ChainNames}. A `Builder`
 * without type arguments can hold any chain.
 *
 * All `reconcile` methods behave alike:
 * - An object that is already as desired costs no write; with a cached client it costs no API read either.
 * - Failures of independent objects are collected and thrown together as a `ReconcileFailedError`,
 *   after the other objects are reconciled.
 * - Nothing is written for an owner that is being deleted.
 * - An inconsistent chain throws `DuplicateObject`, `UnknownReference`, `InvalidOwner` or `InvalidOption` before
 *   anything is written. So does a chain that lacks a link because the code dropped the returned Builder.
 */
export class BuilderChain<Names extends ChainNames> {
  static {
    endOf = (chain) => chain.#end;
  }

  readonly #options: BuilderOptions<Names['order']>;
  readonly #settings: BuilderSettings;
  #end: ChainEnd = { link: undefined, before: undefined, pending: new Set(), hasRun: false };
  #rolloutOrder: readonly string[] | undefined;
  #run: Run | undefined;

  /**
   * @param settings - the validated options of the chain that is copied
   * @throws OperatorError `InvalidOption`, `InvalidOwner`.
   */
  constructor(
    options: BuilderOptions<Names['order']>,
    settings: BuilderSettings = resolveBuilderOptions(options),
  ) {
    this.#options = options;
    this.#settings = settings;
    this.#rolloutOrder = settings.rolloutOrder;
  }

  configMap<const Name extends string>(
    options: ConfigMapOptions<Name> & Owning<Names, 'ConfigMap'>,
  ): BuilderChain<WithName<Names, 'configMap', Name>> {
    return this.#with(configMapLink(options));
  }

  secret<const Name extends string>(
    options: SecretOptions<Name> & Owning<Names, 'Secret'>,
  ): BuilderChain<WithName<Names, 'secret', Name>> {
    return this.#with(secretLink(options));
  }

  service<const Name extends string>(
    options: ServiceOptions<Name> & Owning<Names, 'Service'>,
  ): BuilderChain<WithName<Names, 'service', Name>> {
    return this.#with(serviceLink(options));
  }

  deployment<
    const Name extends string,
    const Ref extends string = string,
    const NodeType extends string = never,
  >(
    options: DeploymentOptions<Names, Name, Ref, NodeType> & Owning<Names, 'Deployment'>,
  ): WithWorkload<Names, Name, NodeType> {
    return this.#with(deploymentLink(options));
  }

  statefulSet<
    const Name extends string,
    const Ref extends string = string,
    const NodeType extends string = never,
    const ServiceName extends string = string,
  >(
    options: StatefulSetOptions<Names, Name, Ref, NodeType, ServiceName> &
      Owning<Names, 'StatefulSet'>,
  ): WithWorkload<Names, Name, NodeType> {
    return this.#with(statefulSetLink(options));
  }

  daemonSet<
    const Name extends string,
    const Ref extends string = string,
    const NodeType extends string = never,
  >(
    options: DaemonSetOptions<Names, Name, Ref, NodeType> & Owning<Names, 'DaemonSet'>,
  ): WithWorkload<Names, Name, NodeType> {
    return this.#with(daemonSetLink(options));
  }

  /**
   * Adds a Job. A changed ConfigMap does not run it again: a Job's template is immutable, and a finished Job
   * must not run twice. A Job that `ttlSecondsAfterFinished` deleted runs again only when its `spec` changes.
   */
  job(options: JobOptions<Names> & Owning<Names, 'Job'>): BuilderChain<Names> {
    return this.#with(jobLink(options));
  }

  /** Adds a CronJob. A changed ConfigMap takes effect at the next run, not in the current one. */
  cronJob(options: CronJobOptions<Names> & Owning<Names, 'CronJob'>): BuilderChain<Names> {
    return this.#with(cronJobLink(options));
  }

  /**
   * Adds a claim. It is kept when its owner is deleted, unless `whenOwnerDeleted` is `delete`; it is pruned
   * only if `prune` is true.
   */
  persistentVolumeClaim<const Name extends string>(
    options: PersistentVolumeClaimOptions<Name> & Owning<Names, 'PersistentVolumeClaim'>,
  ): BuilderChain<WithName<Names, 'claim', Name>> {
    return this.#with(persistentVolumeClaimLink(options));
  }

  networkPolicy(
    options: NetworkPolicyOptions & Owning<Names, 'NetworkPolicy'>,
  ): BuilderChain<Names> {
    return this.#with(networkPolicyLink(options));
  }

  serviceAccount(
    options: ServiceAccountOptions & Owning<Names, 'ServiceAccount'>,
  ): BuilderChain<Names> {
    return this.#with(serviceAccountLink(options));
  }

  role(options: RoleOptions & Owning<Names, 'Role'>): BuilderChain<Names> {
    return this.#with(roleLink(options));
  }

  roleBinding(options: RoleBindingOptions & Owning<Names, 'RoleBinding'>): BuilderChain<Names> {
    return this.#with(roleBindingLink(options));
  }

  ingress(options: IngressOptions & Owning<Names, 'Ingress'>): BuilderChain<Names> {
    return this.#with(ingressLink(options));
  }

  podDisruptionBudget(
    options: PodDisruptionBudgetOptions & Owning<Names, 'PodDisruptionBudget'>,
  ): BuilderChain<Names> {
    return this.#with(podDisruptionBudgetLink(options));
  }

  horizontalPodAutoscaler(
    options: HorizontalPodAutoscalerOptions & Owning<Names, 'HorizontalPodAutoscaler'>,
  ): BuilderChain<Names> {
    return this.#with(horizontalPodAutoscalerLink(options));
  }

  /** Adds an object of any kind, including custom resources. The kind is looked up in the cluster. */
  object<T extends KubernetesObject>(object: T, options: ClaimOptions = {}): BuilderChain<Names> {
    return this.#with(anyObjectLink(object, options));
  }

  /**
   * Adds the objects that `links` chains if `condition` is true. The types count the names as chained in both
   * cases. At run time, `reconcile` rejects a reference to a name that was not chained.
   */
  when<Next extends ChainNames>(
    condition: boolean,
    links: (chain: BuilderChain<Names>) => BuilderChain<Next>,
  ): BuilderChain<Next> {
    return condition ? links(this) : this.#copy<Next>();
  }

  /**
   * Sets the order in which workloads are updated, by node type. Each workload waits until the rollout of its
   * predecessor is complete; workloads without a node type come last. Overrides the option `rolloutOrder`.
   */
  rolloutOrder<const NodeType extends string>(
    order: readonly ChainedName<Names['nodeType'], NodeType>[],
  ): BuilderChain<Names> {
    const next = this.#continued<Names>();
    next.#rolloutOrder = order;
    return next;
  }

  /** Reconciles every object in the order of dependencies, then prunes what is no longer chained. */
  reconcile(): Promise<readonly ObjectResult[]> {
    return this.#acting(async () => {
      this.#refuseDropped();
      return this.#pruning(() => this.#reconcileAll());
    });
  }

  async #reconcileAll(): Promise<readonly ObjectResult[]> {
    if (this.#run !== undefined) return this.#run.reconcileAll();
    const links = this.#links();
    const check = new SettledCheck(this.#settings, this.#rolloutOrder, links);
    const settled = check.results();
    if (settled !== undefined) return settled;
    this.#run = new Run(check.notingSettings(), links.map(readLink));
    const results = await this.#run.reconcileAll();
    check.remember(this.#run.settledResults(results));
    return results;
  }

  /** Reconciles the ConfigMaps and Secrets. */
  reconcileConfigMap(): Promise<readonly ObjectResult[]> {
    return this.#stage('configuration');
  }

  /** Reconciles the Services. */
  reconcileService(): Promise<readonly ObjectResult[]> {
    return this.#stage('service');
  }

  /** Reconciles every workload: Deployments, StatefulSets, DaemonSets, Jobs and CronJobs. */
  reconcileDeployOrSts(): Promise<readonly ObjectResult[]> {
    return this.#stage('workload');
  }

  /** Reconciles the PersistentVolumeClaims. */
  reconcileStorage(): Promise<readonly ObjectResult[]> {
    return this.#stage('storage');
  }

  /** Reconciles the NetworkPolicies. */
  reconcileNetworkPolicy(): Promise<readonly ObjectResult[]> {
    return this.#stage('networkPolicy');
  }

  /** Reconciles every object that none of the other methods covers. */
  reconcileObjects(): Promise<readonly ObjectResult[]> {
    return this.#stage('other');
  }

  /**
   * Deletes the owned objects that are not in the chain. The other methods need not have run.
   * @throws OperatorError `TooManyDeletions`: the deletions would exceed `maxDeletions`.
   * @throws OperatorError `DependencyFailed`: another method of this Builder failed before, or the chain has an
   * unserved kind.
   */
  reconcileStore(): Promise<readonly ObjectResult[]> {
    return this.#acting(async () => {
      this.#refuseDropped();
      return this.#pruning(() => this.#act().prune());
    });
  }

  /** Returns the desired objects, which pruning keeps. */
  async store(): Promise<InternalStore> {
    return this.#act().store();
  }

  /**
   * Returns what {@link BuilderChain.reconcile | Builder.reconcile} would do, without writing. Uses dry runs
   * where the server allows them; otherwise computes the change locally and marks it `approximate`.
   */
  async plan(): Promise<Plan> {
    this.#refuseDropped();
    return this.#act().plan();
  }

  #stage(stage: Stage): Promise<readonly ObjectResult[]> {
    return this.#acting(async () => this.#act().reconcileStage(stage));
  }

  /** Records a running method of the chain, so that {@link awaitRunning} can wait for it. */
  #acting<R>(act: () => Promise<R>): Promise<R> {
    const running = this.#start()?.running;
    if (running === undefined) return act();
    const whole = async (): Promise<R> => {
      try {
        return await act();
      } finally {
        running.delete(work);
      }
    };
    const work = whole();
    running.add(work);
    return work;
  }

  #start(): ChainEnd['start'] {
    return [...endsOf(this.#end)].at(-1)?.start;
  }

  #act(): Run {
    const settings = { ...this.#settings, rolloutOrder: this.#rolloutOrder };
    this.#run ??= new Run(settings, this.#links().map(readLink));
    for (const end of endsOf(this.#end)) end.hasRun = true;
    return this.#run;
  }

  #links(): readonly ChainedLink[] {
    const links: ChainedLink[] = [];
    for (const { link } of endsOf(this.#end)) if (link !== undefined) links.push(link);
    return links.reverse();
  }

  #copy<Next extends ChainNames>(): BuilderChain<Next> {
    const next = new BuilderChain<Next>(this.#options, this.#settings);
    next.#end = this.#end;
    next.#rolloutOrder = this.#rolloutOrder;
    return next;
  }

  #with<Next extends ChainNames>(link: ChainedLink): BuilderChain<Next> {
    this.#refuseUnowned(link);
    return this.#continued<Next>(link);
  }

  #continued<Next extends ChainNames>(link?: ChainedLink): BuilderChain<Next> {
    const next = this.#copy<Next>();
    next.#end = { link, before: this.#end, pending: new Set(), hasRun: false };
    // Two continuations of a chain are enough to find a dropped one. More would fill the memory if a program continues
    // one chain repeatedly for a long time.
    if (this.#end.pending.size < 2) this.#end.pending.add(next.#end);
    return next;
  }

  /**
   * Refuses this chain if a method such as `configMap` was called on a part of it, but the returned chain was dropped:
   * it has not pruned. The object of the dropped link would not be applied, or would be pruned if it exists. Each
   * dropped link is reported once, so that a chain can be used again after the error.
   */
  #refuseDropped(): void {
    const dropped = takeDropped(this.#end);
    if (dropped !== undefined) throw droppedLink(dropped);
  }

  /**
   * Prunes. Refuses a second chain with other objects in one call of a handler: each of the two would delete the
   * objects of the other, in each reconcile. A chain that failed to prune does not count.
   */
  async #pruning<R>(prune: () => Promise<R>): Promise<R> {
    const start = this.#start();
    if (start === undefined) return prune();
    const links = this.#links();
    const first = start.pruning ?? links;
    const problem = strayProblem(links, first);
    if (problem !== undefined) {
      const remedy = 'chains prune the objects of each other; put all of them into one chain';
      throw new OperatorError('InvalidOption', `${problem}; ${remedy}`);
    }
    start.pruning = first;
    try {
      return await prune();
    } catch (error) {
      if (first === links) delete start.pruning;
      throw error;
    }
  }

  #refuseUnowned({ type, json }: ChainedLink): void {
    const { onlyOwned, owns = [] } = this.#settings;
    if (!onlyOwned) return;
    const { kind } = type;
    const apiVersion = apiVersionOf(type);
    if (owns.some((owned) => owned.kind === kind && apiVersionOf(owned) === apiVersion)) return;
    const remedy = `add ${kind} (${apiVersion}) to owns(…) of the controller`;
    const object = describeObject(JSON.parse(json) as KubernetesObject);
    const message = `${object}: the controller does not own its kind; ${remedy}`;
    throw new OperatorError('InvalidOption', message);
  }
}

/** Makes an empty chain the root of all chains that one call of a handler creates. Only one of them may prune. */
export function startHandler(chain: Builder): void {
  endOf(chain).start = { running: new Set() };
}

/**
 * Waits for the methods of chains that continue `chain` and that the handler called without `await`, and for the
 * methods that the handler calls after them. Otherwise their results and errors would be lost.
 * @returns the result or the error of each method
 */
export async function awaitRunning(
  chain: Builder,
): Promise<readonly PromiseSettledResult<unknown>[]> {
  const { running = new Set<Promise<unknown>>() } = endOf(chain).start ?? {};
  const ends: PromiseSettledResult<unknown>[] = [];
  while (running.size > 0) {
    ends.push(...(await Promise.allSettled(running)));
    // Code of the handler that waited for one of these promises may now call the next method.
    await nextTurn();
  }
  return ends;
}

/**
 * Refuses a chain that continues `chain` without effect: none of its methods was called.
 * @throws OperatorError `InvalidOption`
 */
export function refuseUnused(chain: Builder, by: string): void {
  const problem = unusedProblem(endOf(chain));
  if (problem === undefined) return;
  const remedy = 'await chain.reconcile(), or return the chain to builds(…)';
  throw new OperatorError('InvalidOption', `${by}: ${problem}; ${remedy}`);
}

type WithWorkload<
  Names extends ChainNames,
  Name extends string,
  NodeType extends string,
> = BuilderChain<WithName<WithName<Names, 'workload', Name>, 'nodeType', NodeType>>;

/**
 * Declares the objects of an owner as a chain, and applies them. Without type arguments, the type holds any chain, for
 * use in loops: `let chain: Builder = new Builder(…)`.
 * `reconcile` then checks every name.
 */
// `any`, not `ChainNames`: a chain with known names would not be assignable to a chain of all names.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Builder<Names extends ChainNames = any> = BuilderChain<Names>;

/** Starts a chain, which has no objects yet. */
export const Builder: new <const Order extends string = string>(
  options: BuilderOptions<Order>,
) => Builder<NoNames<Order>> = BuilderChain;
