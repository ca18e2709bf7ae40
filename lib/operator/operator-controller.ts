import { mayBePruned } from '../apply/index.js';
import { and, controllerFor, onEvents } from '../controller/index.js';
import type {
  ControllerBuilder,
  WatchKindOptions,
  ControllerOptions,
  Mapper,
  Source,
} from '../controller/index.js';
import { builderAccess, checkRequiredAccess, eventAccess } from '../manager/index.js';
import type { RequiredAccess, Added, ManagerAddOptions, Manager } from '../manager/index.js';
import {
  apiVersionOf,
  DaemonSet,
  Deployment,
  groupOfType,
  isJsonObject,
  qualifiedNameProblem,
  Service,
  StatefulSet,
} from '../object/index.js';
import type { KubernetesObject, TypeReference } from '../object/index.js';
import {
  withoutUndefined,
  refuseOtherThan,
  refuseUnknownOptions,
  OperatorError,
} from '../system/index.js';
import { refuseDecided } from './contexts.js';
import type {
  BuildHandler,
  BuilderSetting,
  FinalizeHandler,
  ForOptions,
  KindsOf,
  OperatorBuilderOptions,
  OwnedTypes,
  ReconcileHandler,
} from './contexts.js';
import { ObjectReconciler } from './object-reconciler.js';
import type { FailureReports } from './failures.js';
import type { ControllerPlan } from './object-reconciler.js';
import { statusSettings } from './status-schema.js';

/** Alternative reconcile style, such as resource chains or a lifecycle; argument of `uses`. */
export interface ControllerStyle<T extends KubernetesObject> {
  /** Adds the controller and everything it needs to a manager. */
  addTo(manager: Manager, controller: StyledController<T>): void;
}

/** Description of a controller that an operator passes to its style. */
export interface StyledController<T extends KubernetesObject> {
  readonly operatorName: string;
  readonly name: string;
  readonly type: TypeReference<T>;
  readonly owns: OwnedTypes;
  readonly options: ControllerOptions;
  /** Adds all watches and sources that the user described, except the watches of the kinds in `owns`. */
  readonly configure: (controller: ControllerBuilder) => ControllerBuilder;
  readonly requires: readonly RequiredAccess[];
  readonly place: Pick<ManagerAddOptions, 'phase' | 'shards'>;
}

/** The parts of an operator that its controllers share. */
export interface OperatorParts {
  readonly name: string;
  readonly reports: FailureReports;
  readonly controllers: readonly DescribedController[];
}

/** View of a controller for the other controllers of the operator. */
export interface DescribedController {
  readonly type: TypeReference<KubernetesObject>;
  /** Whether a running operator can plan objects of the kind: true for `builds` and `reconciles`. */
  readonly isPlanned: boolean;
  readonly writesStatus: boolean;
  /** The finalizer that the controller cleans up for. */
  readonly finalizerInUse: string | undefined;
  /** The objects that the controller's chains prune. Undefined if they are known only in a reconcile. */
  readonly pruning: Pruning | undefined;
  addTo(manager: Manager): Added | undefined;
}

/** The objects of an owner that chains prune. */
interface Pruning extends Pick<OperatorBuilderOptions, 'scope' | 'namespace' | 'pruneClaims'> {
  readonly kinds: readonly TypeReference<KubernetesObject>[];
}

type Handling<T extends KubernetesObject> =
  ControllerPlan<T>['handler'] | { readonly type: 'uses'; readonly style: ControllerStyle<T> };

/**
 * Describes how the objects of a kind are reconciled; see `Operator.for`. Every method changes the
 * description and returns it. The return type carries the owned kinds.
 */
export interface OperatorController<T extends KubernetesObject, Owned extends string = never> {
  /** The kind that the controller reconciles. */
  readonly type: TypeReference<T>;
  /**
   * Lists every kind that the controller creates. The operator watches and prunes these kinds, adds them to
   * its role, and offers them on `builder`.
   */
  owns<const R extends OwnedTypes>(...types: R): OperatorController<T, Owned | KindsOf<R[number]>>;
  /** Reconciles the objects that `mapper` returns when an object of `type` changes. */
  watches<W extends KubernetesObject>(
    type: TypeReference<W>,
    mapper: Mapper<W>,
    options?: WatchKindOptions<W>,
  ): this;
  /** Reconciles the objects that another source emits: a timer, a stream, a callback. */
  from(source: Source): this;
  /** Sets options of the controller, such as `maxConcurrentReconciles`. */
  withOptions(options: Omit<ControllerOptions, 'name' | 'reportingController'>): this;
  /** Sets options of `context.builder`, such as the `namespace` for objects of a cluster-scoped owner. */
  withBuilder(options: BuilderSetting<T>): this;
  /**
   * Sets where the controller runs: on the leader, on every replica, or sharded by key over the replicas.
   * @defaultValue on the leader
   */
  runsOn(place: 'leader' | 'replica' | 'shards'): this;
  /**
   * Adds RBAC rules for the other requests of the handlers. Rules for watches, owned kinds and the status are
   * included already.
   */
  requires(...access: readonly RequiredAccess[]): this;
  /** Reconciles with a chain: the operator applies everything that `handler` returns and prunes the rest. */
  builds(handler: BuildHandler<T, Owned>): this;
  /** Reconciles with your own code, step by step. */
  reconciles(handler: ReconcileHandler<T, Owned>): this;
  /** Reconciles with another style: `resourceChain(…)`, `lifecycle(…)`. */
  uses(style: ControllerStyle<T>): this;
  /**
   * Cleans up before an object is deleted. The operator adds and removes the finalizer. Without `finalizes`,
   * garbage collection deletes the owned objects.
   */
  finalizes(handler: FinalizeHandler<T>): this;
}

/** Collects the description of one controller and adds it to a manager. */
export class ControllerLinks<T extends KubernetesObject, Owned extends string>
  implements OperatorController<T, Owned>, DescribedController
{
  readonly #operator: OperatorParts;
  readonly #type: TypeReference<T>;
  readonly #options: ForOptions<T>;
  readonly #owns: TypeReference<KubernetesObject>[] = [];
  readonly #links: ((controller: ControllerBuilder) => ControllerBuilder)[] = [];
  readonly #requires: RequiredAccess[] = [];
  #controllerOptions: ControllerOptions = {};
  #builderOptions: BuilderSetting<T> | undefined;
  #place: Pick<ManagerAddOptions, 'phase' | 'shards'> = {};
  #handling: Handling<T> | undefined;
  #finalize: FinalizeHandler<T> | undefined;

  /** @internal Use `Operator.for`. */
  constructor(operator: OperatorParts, type: TypeReference<T>, options: ForOptions<T>) {
    refuseUnknownOptions<ForOptions<T>>(`for(${type.kind})`, options, {
      ...{ name: true, status: true, finalizer: true, predicate: true },
    });
    checkForOptions(`for(${type.kind})`, options);
    this.#operator = operator;
    this.#type = type;
    this.#options = options;
  }

  get type(): TypeReference<T> {
    return this.#type;
  }

  owns<const R extends OwnedTypes>(...types: R): OperatorController<T, Owned | KindsOf<R[number]>> {
    for (const type of types) {
      // Validates the type at the call that passes it.
      controllerFor(this.#type).owns(type);
      this.#owns.push(type);
    }
    return this;
  }

  watches<W extends KubernetesObject>(
    type: TypeReference<W>,
    mapper: Mapper<W>,
    options?: WatchKindOptions<W>,
  ): this {
    return this.#link((controller) => controller.watches(type, mapper, options));
  }

  from(source: Source): this {
    return this.#link((controller) => controller.from(source));
  }

  withOptions(options: Omit<ControllerOptions, 'name' | 'reportingController'>): this {
    // Validates the options at the call that passes them.
    for (const name of ['name', 'reportingController'] as const) {
      if (!isJsonObject(options) || !(name in options)) continue;
      const naming = `give it to for(${this.#type.kind}, { name })`;
      const remedy = name === 'name' ? naming : 'it is the name of the operator';
      this.#refuse(`withOptions: ${name} can't be set here; ${remedy}`);
    }
    controllerFor(this.#type).withOptions(options);
    this.#controllerOptions = { ...this.#controllerOptions, ...withoutUndefined(options) };
    return this;
  }

  withBuilder(options: BuilderSetting<T>): this {
    if (this.#builderOptions !== undefined)
      this.#refuse('withBuilder: called twice; pass all options in one call');
    if (typeof options !== 'function') refuseDecided(this.#type, options);
    this.#builderOptions = options;
    return this.#checkStyle();
  }

  runsOn(place: 'leader' | 'replica' | 'shards'): this {
    if (!['leader', 'replica', 'shards'].includes(place)) {
      this.#refuse(`runsOn: want leader, replica or shards, got ${place}`);
    }
    this.#place = place === 'shards' ? { shards: true } : { phase: place };
    return this;
  }

  requires(...access: readonly RequiredAccess[]): this {
    checkRequiredAccess(access);
    this.#requires.push(...access);
    return this;
  }

  builds(handler: BuildHandler<T, Owned>): this {
    // The builder also checks the owned kinds at run time.
    const handle = handler as unknown as BuildHandler<T, string>;
    return this.#handled('builds', { type: 'builds', handle });
  }

  reconciles(handler: ReconcileHandler<T, Owned>): this {
    const handle = handler as unknown as ReconcileHandler<T, string>;
    return this.#handled('reconciles', { type: 'reconciles', handle });
  }

  uses(style: ControllerStyle<T>): this {
    return this.#handled('uses', { type: 'uses', style });
  }

  finalizes(handler: FinalizeHandler<T>): this {
    if (typeof handler !== 'function')
      this.#refuse(`finalizes: want a function, got ${typeof handler}`);
    if (this.#finalize !== undefined)
      this.#refuse('finalizes: called twice; keep one of the handlers');
    this.#finalize = handler;
    return this.#checkStyle();
  }

  /**
   * Adds the controller to a manager; `Operator.setup` does so.
   * @throws OperatorError `InvalidOption`: the controller has no `builds`, `reconciles` or `uses`.
   */
  addTo(manager: Manager): Added | undefined {
    const handling = this.#handling;
    if (handling === undefined) {
      return this.#refuse('nothing reconciles it; add builds(…), reconciles(…) or uses(…)');
    }
    this.#checkOthers();
    if (handling.type !== 'uses') return this.#addReconciler(manager, handling);
    handling.style.addTo(manager, this.#styled());
    return undefined;
  }

  get isPlanned(): boolean {
    return this.#handling !== undefined && this.#handling.type !== 'uses';
  }

  get writesStatus(): boolean {
    return this.#handling?.type !== 'uses' && this.#status() !== undefined;
  }

  get finalizerInUse(): string | undefined {
    return this.#finalize === undefined ? undefined : this.#finalizer();
  }

  get pruning(): Pruning | undefined {
    const options = this.#builderOptions ?? {};
    if (this.#handling?.type !== 'builds' || typeof options === 'function') return undefined;
    return { kinds: this.#owns, ...options };
  }

  /** The other controllers of the operator for the same kind. */
  get #others(): readonly DescribedController[] {
    const kind = ofKind(this.#type);
    return this.#operator.controllers.filter((each) => each !== this && ofKind(each.type) === kind);
  }

  /** Throws if two controllers of one kind would write the same status, use the same finalizer, or prune. */
  #checkOthers(): void {
    const others = this.#others;
    if (this.writesStatus && others.some(({ writesStatus }) => writesStatus)) {
      const remedy = 'give all but one of them the option status: false';
      this.#refuse(`two controllers would write the status of the same objects; ${remedy}`);
    }
    const finalizer = this.finalizerInUse;
    if (finalizer !== undefined && others.some((each) => each.finalizerInUse === finalizer)) {
      const remedy = 'give one of them another finalizer, with the option finalizer';
      this.#refuse(`two controllers clean up for the finalizer ${finalizer}; ${remedy}`);
    }
    const [common] = others.flatMap(({ pruning }) => prunedByBoth(this.pruning, pruning));
    if (common !== undefined) {
      const remedy = 'give one of them another scope by withBuilder({ scope })';
      this.#refuse(
        `two controllers would prune the ${common.kind} objects of each other; ${remedy}`,
      );
    }
  }

  #addReconciler(manager: Manager, handler: ControllerPlan<T>['handler']): Added {
    const plan: ControllerPlan<T> = {
      ...{ operatorName: this.#operator.name, type: this.#type, owns: this.#owns, handler },
      ...{ finalize: this.#finalize, finalizer: this.#ownFinalizer() },
      ...{ status: this.#status(), builderOptions: this.#builderOptions ?? {} },
      reports: this.#operator.reports,
    };
    const reconciler = new ObjectReconciler(plan);
    const foreign = onEvents<T>({
      updated: ({ old, object }) => !reconciler.isOwnWrite(old, object),
    });
    const { predicate: wanted } = this.#options;
    const predicate = wanted === undefined ? foreign : and(foreign, wanted);
    const { name, options, configure, requires, place } = this.#styled();
    // The status writer finds the fields that it no longer sets in its own managed fields.
    const watch = { predicate, keepManagedFields: plan.status !== undefined };
    const owning = this.#owns.reduce(
      (builder, type) => builder.owns(type),
      controllerFor(this.#type, watch),
    );
    const controller = configure(owning).withOptions({ ...options, name });
    return manager.add(
      controller.complete((context) => reconciler.reconcile(context)),
      { ...place, requires: [...this.#access(plan), ...requires] },
    );
  }

  #access({ status, finalize, builderOptions }: ControllerPlan<T>): readonly RequiredAccess[] {
    const type = this.#type;
    const adopts = typeof builderOptions === 'object' && builderOptions.adopt === true;
    return [
      ...(status === undefined ? [] : [{ type, subresource: 'status', verbs: ['patch'] } as const]),
      // Without `finalizes`, the operator needs `patch` to remove a finalizer that an earlier release added.
      ...(finalize === undefined && !('crd' in type) ? [] : [{ type, verbs: ['patch'] } as const]),
      ...builderAccess(this.#owns),
      // An adopted Service selects its former pods, of workloads of any kind, until its new workload is rolled out.
      ...(adopts && this.#owns.some(isService) ? workloadLists : []),
      ...eventAccess,
    ];
  }

  #styled(): StyledController<T> {
    const { name = this.#type.kind.toLowerCase() } = this.#options;
    const reportingController = this.#operator.name;
    return {
      ...{ name, operatorName: this.#operator.name, type: this.#type, owns: this.#owns },
      options: { ...this.#controllerOptions, reportingController },
      configure: (controller) => this.#links.reduce((all, link) => link(all), controller),
      ...{ requires: this.#requires, place: this.#place },
    };
  }

  /** Returns the finalizer to remove; undefined if another controller removes it. */
  #ownFinalizer(): string | undefined {
    const finalizer = this.#finalizer();
    const isForeign =
      this.#finalize === undefined &&
      this.#others.some(({ finalizerInUse }) => finalizerInUse === finalizer);
    return isForeign ? undefined : finalizer;
  }

  #finalizer(): string {
    const group = groupOfType(this.#type);
    const { finalizer } = this.#options;
    return finalizer ?? `${group === '' ? 'operator-builder.io' : group}/${this.#operator.name}`;
  }

  #status(): ControllerPlan<T>['status'] {
    const { status } = this.#options;
    return statusSettings(this.#type, status, (problem) => this.#refuse(`status: ${problem}`));
  }

  #link(link: (controller: ControllerBuilder) => ControllerBuilder): this {
    // Validates the arguments at this call, not when a manager is set up.
    link(controllerFor(this.#type));
    this.#links.push(link);
    return this;
  }

  #handled(by: string, handling: Handling<T>): this {
    if (handling.type === 'uses') this.#checkStyleGiven(handling.style);
    else if (typeof (handling.handle as unknown) !== 'function') {
      this.#refuse(`${by}: want a function, got ${typeof handling.handle}`);
    }
    if (this.#handling !== undefined) {
      this.#refuse(`${by}: ${this.#handling.type} is already set; keep one of them`);
    }
    this.#handling = handling;
    return this.#checkStyle();
  }

  #checkStyleGiven(style: ControllerStyle<T> | null | undefined): void {
    if (typeof (style?.addTo as unknown) === 'function') return;
    const got = style === null ? 'null' : typeof style;
    this.#refuse(`uses: want an object with a method addTo, got ${got}`);
  }

  /** Throws if `uses` is combined with a setting that only `builds` and `reconciles` read. */
  #checkStyle(): this {
    if (this.#handling?.type !== 'uses') return this;
    if (this.#finalize !== undefined) {
      this.#refuse(
        'finalizes is for builds and reconciles; leave it out, because the style given to uses(…) cleans up',
      );
    }
    if (this.#builderOptions !== undefined) {
      this.#refuse(
        'withBuilder is for builds and reconciles; set its options in the style given to uses(…)',
      );
    }
    for (const name of ['status', 'finalizer', 'predicate'] as const) {
      if (this.#options[name] === undefined) continue;
      this.#refuse(
        `the option ${name} is for builds and reconciles; set it in the style given to uses(…)`,
      );
    }
    return this;
  }

  #refuse(problem: string): never {
    throw new OperatorError('InvalidOption', `for(${this.#type.kind}): ${problem}`);
  }
}

const workloadLists: readonly RequiredAccess[] = [Deployment, StatefulSet, DaemonSet].map(
  (type): RequiredAccess => ({ type, verbs: ['list'] }),
);

function isService(type: TypeReference<KubernetesObject>): boolean {
  return type.kind === Service.kind && groupOfType(type) === '';
}

/** Returns the kinds of which each of two controllers would prune the objects of the other. */
function prunedByBoth(
  one: Pruning | undefined,
  other: Pruning | undefined,
): readonly TypeReference<KubernetesObject>[] {
  if (one === undefined || other === undefined || one.scope !== other.scope) return [];
  const namespaces = new Set([one.namespace, other.namespace]);
  const areApart = namespaces.size === 2 && !namespaces.has(undefined);
  const pruneClaims = one.pruneClaims === true || other.pruneClaims === true;
  const kinds = new Set(other.kinds.map(ofKind));
  return one.kinds.filter((type) => {
    if (!kinds.has(ofKind(type)) || (areApart && 'namespaced' in type && type.namespaced))
      return false;
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: {} };
    return mayBePruned(object, { pruneClaims });
  });
}

function ofKind(type: TypeReference<KubernetesObject>): string {
  return `${groupOfType(type)}/${type.kind}`;
}

/** In plain JavaScript, the text `'false'` would count as true, and an invalid finalizer would fail each reconcile. */
function checkForOptions<T extends KubernetesObject>(
  subject: string,
  { name, status, finalizer, predicate }: ForOptions<T>,
): void {
  refuseOtherThan(`${subject}: status`, status, [true, false]);
  const isText = (given: unknown): boolean => given === undefined || typeof given === 'string';
  const problem =
    typeof finalizer === 'string'
      ? qualifiedNameProblem(finalizer)
      : 'want the name of a finalizer';
  const problems = [
    ...(isText(name) ? [] : ['name: want a text']),
    ...(finalizer === undefined || problem === undefined ? [] : [`finalizer: ${problem}`]),
    ...(['undefined', 'function'].includes(typeof predicate) ? [] : ['predicate: want a function']),
  ];
  if (problems[0] !== undefined) {
    throw new OperatorError('InvalidOption', `${subject}: ${problems[0]}`);
  }
}
