import { applySettings } from '../apply/index.js';
import type { ApplySettings, ImmutablePolicy, ObjectResult } from '../apply/index.js';
import type { CachingClient } from '../client/index.js';
import type { OperatorEvents, Recorder } from '../events/index.js';
import { describeObject, isJsonObject, labelValueOf, labelsProblem } from '../object/index.js';
import type { KubernetesObject, TypeReference } from '../object/index.js';
import type { Clock, Logger, OptionNames } from '../system/index.js';
import {
  OperatorError,
  refuseNonList,
  refuseOtherThan,
  refuseUnknownOptions,
} from '../system/index.js';

/** Options of a `Builder`. */
export interface BuilderOptions<Order extends string = string> {
  /** Client of the cluster. With a cached client, an unchanged chain makes no API calls. */
  readonly client: BuilderClient;
  /** The object, read from the server, that owns everything in the chain. */
  readonly owner: KubernetesObject;
  /**
   * Field manager, reporting controller of Events, and value of `app.kubernetes.io/managed-by`; for example
   * `parseable-operator`. At most 128 characters. Changing it orphans the existing objects.
   */
  readonly controllerName: string;
  /** Labels of every object except pods. An object's own labels override them. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * Namespace of the objects. A cluster-scoped owner needs it for namespaced objects without a namespace of
   * their own; any other owner must leave it out or repeat its own. Pruning visits this namespace and those
   * of chained objects. Objects in another namespace that is no longer in the chain stay until the owner is
   * deleted.
   */
  readonly namespace?: string | undefined;
  /**
   * Value of the label `operator-builder.io/scope` on the chain's objects. Set it if several chains make
   * objects for one owner. A chain prunes only objects of its own scope; a chain without a scope prunes only
   * objects without one.
   * @defaultValue undefined: a single chain makes all objects
   */
  readonly scope?: string | undefined;
  /**
   * Kinds that pruning visits in addition to those of the chain.
   * @defaultValue the kinds owned by the controller whose reconcile provides `client`. With any other client:
   * all built-in kinds of the builder every ten minutes, and in between the kinds that the owner has objects
   * of
   */
  readonly owns?: readonly TypeReference<KubernetesObject>[] | undefined;
  /**
   * Reject a link whose kind is missing from `owns` with `InvalidOption` when it is chained.
   * @defaultValue false
   */
  readonly onlyOwned?: boolean | undefined;
  /** The policy for a change of an immutable field. @defaultValue 'fail' */
  readonly onImmutable?: ImmutablePolicy | undefined;
  /** Take over existing objects that have no controller. @defaultValue false */
  readonly adopt?: boolean | undefined;
  /**
   * Managers that wrote the objects with create and update before this operator did. The builder takes over
   * their fields, so that a field dropped from the chain is removed.
   * @defaultValue `[]`
   */
  readonly adoptManagers?: readonly string[] | undefined;
  /** Order in which workloads roll out, by `nodeType`. @defaultValue the order of the chain */
  readonly rolloutOrder?: readonly Order[] | undefined;
  /**
   * `ordered`: a changed pod template waits until the rollout of earlier workloads is complete. `parallel`:
   * workloads roll out at the same time.
   * @defaultValue 'ordered'
   */
  readonly rollout?: 'ordered' | 'parallel' | undefined;
  /**
   * Create a workload only after earlier workloads are rolled out.
   * @defaultValue false: create all at once
   */
  readonly orderCreation?: boolean | undefined;
  /**
   * Maximum number of objects that one pruning may delete: a number, or a share such as `'50%'`, rounded
   * down. A share refers to all objects that the owner has at the time of pruning: those of the controller and scope of
   * this chain, of the kinds that pruning visits, including objects that were created just before. An object that waits
   * to be pruned counts as deleted. An object that is never pruned, such as a claim, does not.
   *
   * To allow more, users set the owner's annotation `operator-builder.io/allow-deletions` to its `metadata.generation`.
   * @defaultValue half of the owned objects, at least 5, but never all of them
   */
  readonly maxDeletions?: number | `${number}%` | undefined;
  /** Called with the result of each object that did not fail. @defaultValue undefined */
  readonly onResult?: ((result: ObjectResult) => void) | undefined;
  /** Recorder of Kubernetes Events on the owner. @defaultValue no Events */
  readonly recorder?: Recorder | undefined;
  /** Emitter of events within this process. @defaultValue no events */
  readonly emitter?: OperatorEvents | undefined;
  /**
   * Action for claims that are no longer chained, regardless of the `prune` option they had: `true` deletes
   * them, `false` keeps them.
   * @defaultValue each claim's own `prune`
   */
  readonly pruneClaims?: boolean | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** @defaultValue no logs */
  readonly logger?: Logger | undefined;
  /** Cancels running calls and prevents new ones. */
  readonly signal?: AbortSignal | undefined;
}

/** A client that may also list the owned kinds, as the client of a controller's reconcile does. */
export type BuilderClient = CachingClient & {
  readonly owns?: readonly TypeReference<KubernetesObject>[] | undefined;
};

/** {@link BuilderOptions} with their defaults. */
export interface BuilderSettings extends ApplySettings {
  /** Namespace of every namespaced object; undefined for a cluster-scoped owner without the option. */
  readonly namespace: string | undefined;
  readonly owns: readonly TypeReference<KubernetesObject>[] | undefined;
  readonly onlyOwned: boolean;
  readonly rolloutOrder: readonly string[] | undefined;
  readonly rollout: 'ordered' | 'parallel';
  readonly orderCreation: boolean;
  readonly onResult: ((result: ObjectResult) => void) | undefined;
}

/**
 * Validates the options and fills in the defaults.
 * @throws OperatorError `InvalidOption`: an option is missing, has the wrong shape, or contradicts another.
 * @throws OperatorError `InvalidOwner`: the namespace of the owner differs from `namespace`.
 */
export function resolveBuilderOptions(options: BuilderOptions): BuilderSettings {
  refuseUnknownOptions('Builder', options, optionNames);
  const { owner, labels = {}, rolloutOrder, scope } = options;
  refuseOtherThan('Builder: onlyOwned', options.onlyOwned, booleans);
  refuseOtherThan('Builder: orderCreation', options.orderCreation, booleans);
  refuseNonList('Builder: owns', options.owns);
  refuseNonList('Builder: rolloutOrder', rolloutOrder);
  const { rollout = 'ordered', orderCreation = false, onlyOwned = false, onResult } = options;
  checkLabels(labels);
  checkScope(scope);
  // List the members instead of spreading the options: every reconcile runs this code, and a spread of so many
  // members is slow.
  return {
    ...applySettings(options),
    owns: visitedKinds(options),
    onlyOwned,
    onResult,
    rolloutOrder,
    orderCreation,
    rollout: resolveRollout(rollout),
    namespace: namespaceOf(owner, options.namespace),
  };
}

const booleans = [true, false];

const optionNames: OptionNames<BuilderOptions> = {
  ...{ client: true, owner: true, controllerName: true, labels: true, namespace: true },
  ...{
    scope: true,
    owns: true,
    onlyOwned: true,
    onImmutable: true,
    adopt: true,
    adoptManagers: true,
  },
  ...{ rolloutOrder: true, rollout: true, orderCreation: true },
  ...{ maxDeletions: true, onResult: true, recorder: true, emitter: true, pruneClaims: true },
  ...{ clock: true, logger: true, signal: true },
};

function resolveRollout(given: string): 'ordered' | 'parallel' {
  if (given === 'ordered' || given === 'parallel') return given;
  const message = `Builder: rollout: want 'ordered' or 'parallel', got ${JSON.stringify(given)}`;
  throw new OperatorError('InvalidOption', message);
}

function visitedKinds({ client, owns }: BuilderOptions): BuilderSettings['owns'] {
  if (owns !== undefined) return owns;
  // An empty list means that the controller declared no owned kinds; it does not limit the chain.
  return client.owns?.length === 0 ? undefined : client.owns;
}

function checkScope(scope: string | undefined): void {
  if (scope === undefined || (scope !== '' && labelValueOf(scope) === scope)) return;
  const message = `Builder: scope: want a label value of 1 to 63 characters, got ${JSON.stringify(scope)}`;
  throw new OperatorError('InvalidOption', message);
}

function checkLabels(labels: Readonly<Record<string, string>>): void {
  if (!isJsonObject(labels))
    throw new OperatorError('InvalidOption', 'Builder: labels: want an object');
  const problem = labelsProblem(labels);
  if (problem !== undefined)
    throw new OperatorError('InvalidOption', `Builder: labels: ${problem}`);
}

function namespaceOf(owner: KubernetesObject, given: string | undefined): string | undefined {
  const { namespace } = owner.metadata;
  if (namespace === undefined || namespace === '') return given;
  if (given === undefined || given === namespace) return namespace;
  const message = `${describeObject(owner)} can't own objects in namespace ${given}: owner references never cross namespaces; leave the option namespace out`;
  throw new OperatorError('InvalidOwner', message);
}
