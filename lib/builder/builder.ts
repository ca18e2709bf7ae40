import type { ClaimOptions, ObjectResult } from '../apply/index.js';
import { describeObject } from '../object/describe-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { apiVersionOf } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';
import type { InternalStore } from '../store/internal-store.js';
import { resolveBuilderOptions } from './builder-options.js';
import type { BuilderOptions, BuilderSettings } from './builder-options.js';
import type { ChainedName, ChainNames, NoNames, Owning, WithName } from './chain-names.js';
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

/**
 * Says what an owner's objects should be, and makes it so. A chain is immutable: every link returns a
 * new Builder that knows one object more; nothing is read or written before `plan` or one of the
 * `reconcile` methods is called. The names that were chained are kept in `Names`, so that a typo does
 * not compile; see {@link ChainNames}. A `Builder` without type arguments holds any chain.
 *
 * What all `reconcile` methods share: an object that is as desired costs no call (with a cached client
 * no read either); failures of independent objects are collected and thrown together, as a
 * {@link ReconcileFailedError}, once the rest was done; nothing is written for an owner that is being
 * deleted. Before anything is written they throw `DuplicateObject`, `UnknownReference`, `InvalidOwner`
 * or `InvalidOption` where the chain itself makes no sense.
 */
export class BuilderChain<Names extends ChainNames> {
  readonly #options: BuilderOptions<Names['order']>;
  readonly #settings: BuilderSettings;
  #last: LastLink | undefined;
  #rolloutOrder: readonly string[] | undefined;
  #run: Run | undefined;

  /**
   * @param settings - the options of the chain that is copied, which were checked before
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
   * Its template is immutable and a finished Job must not run again: a changed ConfigMap leaves it. Nor
   * does it run again where `ttlSecondsAfterFinished` has it deleted, before its `spec` changes.
   */
  job(options: JobOptions<Names> & Owning<Names, 'Job'>): BuilderChain<Names> {
    return this.#with(jobLink(options));
  }

  /** The next run sees a changed ConfigMap; the running one goes on as it is. */
  cronJob(options: CronJobOptions<Names> & Owning<Names, 'CronJob'>): BuilderChain<Names> {
    return this.#with(cronJobLink(options));
  }

  /** Outlives its owner unless `whenOwnerDeleted` is `delete`, and is not pruned unless `prune`. */
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

  /** Any other object, custom resources included. Its kind is looked up in the cluster. */
  object(object: KubernetesObject, options: ClaimOptions = {}): BuilderChain<Names> {
    return this.#with(anyObjectLink(object, options));
  }

  /**
   * What `links` chains, where `condition` holds; else nothing more. The names count as chained either
   * way: a reference to one that is missing is found when the chain is reconciled.
   */
  when<Next extends ChainNames>(
    condition: boolean,
    links: (chain: BuilderChain<Names>) => BuilderChain<Next>,
  ): BuilderChain<Next> {
    return condition ? links(this) : this.#copy<Next>();
  }

  /**
   * Workloads are updated in this order of their node types, each once the one before is fully rolled
   * out; those without a node type come last. Replaces the `rolloutOrder` of the options.
   */
  rolloutOrder<const NodeType extends string>(
    order: readonly ChainedName<Names['nodeType'], NodeType>[],
  ): BuilderChain<Names> {
    const next = this.#copy<Names>();
    next.#rolloutOrder = order;
    return next;
  }

  /** Everything, in the order in which one needs the other; then what is no longer chained goes. */
  async reconcile(): Promise<readonly ObjectResult[]> {
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

  /** The ConfigMaps and Secrets. */
  async reconcileConfigMap(): Promise<readonly ObjectResult[]> {
    return this.#act().reconcileStage('configuration');
  }

  /** The Services. */
  async reconcileService(): Promise<readonly ObjectResult[]> {
    return this.#act().reconcileStage('service');
  }

  /** Every workload: Deployments, StatefulSets, DaemonSets, Jobs and CronJobs. */
  async reconcileDeployOrSts(): Promise<readonly ObjectResult[]> {
    return this.#act().reconcileStage('workload');
  }

  /** The PersistentVolumeClaims. */
  async reconcileStorage(): Promise<readonly ObjectResult[]> {
    return this.#act().reconcileStage('storage');
  }

  /** The NetworkPolicies. */
  async reconcileNetworkPolicy(): Promise<readonly ObjectResult[]> {
    return this.#act().reconcileStage('networkPolicy');
  }

  /** Whatever no other method reconciles. */
  async reconcileObjects(): Promise<readonly ObjectResult[]> {
    return this.#act().reconcileStage('other');
  }

  /**
   * Deletes what the owner has and the chain does not name, whether or not the other methods ran.
   * @throws OperatorError `TooManyDeletions`: `maxDeletions` would have been passed.
   * @throws OperatorError `DependencyFailed`: another method of this Builder failed before.
   */
  async reconcileStore(): Promise<readonly ObjectResult[]> {
    return this.#act().prune();
  }

  /** The desired state in the abstract: what pruning keeps. */
  async store(): Promise<InternalStore> {
    return this.#act().store();
  }

  /**
   * What {@link BuilderChain.reconcile | Builder.reconcile} would do, without writing. Dry runs where the server allows them;
   * elsewhere the change is computed here and marked `approximate`.
   */
  async plan(): Promise<Plan> {
    return this.#act().plan();
  }

  #act(): Run {
    const settings = { ...this.#settings, rolloutOrder: this.#rolloutOrder };
    this.#run ??= new Run(settings, this.#links().map(readLink));
    return this.#run;
  }

  #links(): readonly ChainedLink[] {
    const links: ChainedLink[] = [];
    for (let last = this.#last; last !== undefined; last = last.before) links.push(last.link);
    return links.reverse();
  }

  #copy<Next extends ChainNames>(): BuilderChain<Next> {
    const next = new BuilderChain<Next>(this.#options, this.#settings);
    next.#last = this.#last;
    next.#rolloutOrder = this.#rolloutOrder;
    return next;
  }

  #with<Next extends ChainNames>(link: ChainedLink): BuilderChain<Next> {
    this.#refuseUnowned(link);
    const next = this.#copy<Next>();
    next.#last = { link, before: this.#last };
    return next;
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

/** The links of a chain, last one first: chains share those that they have in common. */
interface LastLink {
  readonly link: ChainedLink;
  readonly before: LastLink | undefined;
}

type WithWorkload<
  Names extends ChainNames,
  Name extends string,
  NodeType extends string,
> = BuilderChain<WithName<WithName<Names, 'workload', Name>, 'nodeType', NodeType>>;

/**
 * A chain. Without type arguments it is any chain, for loops: `let chain: Builder = new Builder(…)`;
 * every name in it is then checked when it is reconciled.
 */
// `any`, not `ChainNames`: a chain of certain names would not be assignable to one of all names.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Builder<Names extends ChainNames = any> = BuilderChain<Names>;

/** Begins a chain. */
export const Builder: new <const Order extends string = string>(
  options: BuilderOptions<Order>,
) => Builder<NoNames<Order>> = BuilderChain;
