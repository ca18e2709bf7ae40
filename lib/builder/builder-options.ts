import { applySettings } from '../apply/index.js';
import type { ApplySettings, ImmutablePolicy, ObjectResult } from '../apply/index.js';
import type { CachingClient } from '../client/client.js';
import type { OperatorEvents } from '../events/operator-events.js';
import type { Recorder } from '../events/recorder.js';
import { describeObject } from '../object/describe-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { labelValueOf } from '../object/label-value.js';
import { labelsProblem } from '../object/names.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import type { OptionNames } from '../system/known-options.js';
import { OperatorError } from '../system/operator-error.js';
import type { Resolved } from '../system/resolved.js';

/** Options of {@link Builder}. */
export interface BuilderOptions<Order extends string = string> {
  /** How the cluster is reached. With a cached client an unchanged chain costs no call at all. */
  readonly client: BuilderClient;
  /** The object, read from the server, that owns everything in the chain. */
  readonly owner: KubernetesObject;
  /**
   * Field manager, reporting controller of events, and value of `app.kubernetes.io/managed-by`; for
   * example `parseable-operator`. At most 128 characters. Changing it orphans what was written.
   */
  readonly controllerName: string;
  /** Labels of every object (not of pods), under the object's own. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * Where the objects go. Needed for, and only allowed with, a cluster-scoped owner. Pruning then looks
   * in this namespace and in those of chained objects: what is in another one, of which nothing is
   * chained any more, stays until the owner is deleted.
   */
  readonly namespace?: string | undefined;
  /**
   * Which part of the owner's objects the chain is, where several chains make objects for one owner: the
   * label `operator-builder.io/scope` of its objects. A chain prunes only in its own scope, one without a
   * scope only what has none. @defaultValue none: the chain is all there is
   */
  readonly scope?: string | undefined;
  /**
   * The kinds that pruning visits, with those of the chain.
   * @defaultValue what the controller owns whose reconcile `client` is for; with any other client every
   * kind that the builder has a method for, each ten minutes, and in between those that the owner has
   */
  readonly owns?: readonly TypeReference<KubernetesObject>[] | undefined;
  /**
   * Refuse a link whose kind `owns` does not name: `InvalidOption` where it is chained.
   * @defaultValue false
   */
  readonly onlyOwned?: boolean | undefined;
  /** The same as `owns`. */
  readonly kinds?: readonly TypeReference<KubernetesObject>[] | undefined;
  /** @defaultValue 'fail' */
  readonly onImmutable?: ImmutablePolicy | undefined;
  /** Take over objects that exist and that nobody controls. @defaultValue false */
  readonly adopt?: boolean | undefined;
  /**
   * Managers that wrote our objects by create and update before us: their fields become ours, so
   * that a dropped one goes away. @defaultValue none
   */
  readonly adoptManagers?: readonly string[] | undefined;
  /** Workloads roll out in this order of their `nodeType`. @defaultValue the order of the chain */
  readonly rolloutOrder?: readonly Order[] | undefined;
  /**
   * `ordered`: a changed pod template waits while a workload before it rolls out. `parallel`: it never
   * waits. @defaultValue 'ordered'
   */
  readonly rollout?: 'ordered' | 'parallel' | undefined;
  /**
   * Create a workload only once those before it are rolled out. @defaultValue false: all at once
   */
  readonly orderCreation?: boolean | undefined;
  /**
   * The most objects that one pruning may delete: a number, or a share such as `'50%'`, rounded down.
   * The user of the owner can allow more by its annotation `operator-builder.io/allow-deletions`, whose
   * value is the owner's `metadata.generation`.
   * @defaultValue half of the objects owned, at least 5, but never all of them
   */
  readonly maxDeletions?: number | `${number}%` | undefined;
  /** Called with the result of each object that did not fail. @defaultValue nothing is called */
  readonly onResult?: ((result: ObjectResult) => void) | undefined;
  /** Where Kubernetes events on the owner go. @defaultValue nowhere */
  readonly recorder?: Recorder | undefined;
  /** Where events within this process go. @defaultValue nowhere */
  readonly emitter?: OperatorEvents | undefined;
  /**
   * What becomes of claims that are no longer chained, whatever `prune` they were given while they
   * were: `true` deletes them, `false` keeps them. @defaultValue each as its own `prune` says
   */
  readonly pruneClaims?: boolean | undefined;
  /** @defaultValue the clock of the machine */
  readonly clock?: Clock | undefined;
  /** @defaultValue none */
  readonly logger?: Logger | undefined;
  /** Ends every call; what was not begun by then is not begun. */
  readonly signal?: AbortSignal | undefined;
  /** Names the environment variables that carry hashes. */
  readonly hashPrefixes?: HashPrefixes | undefined;
}

/** What the names of hash variables begin with. */
export interface HashPrefixes {
  /** @defaultValue 'CONFIGMAP_HASH_' */
  readonly configMap?: string | undefined;
  /** @defaultValue 'SECRET_HASH_' */
  readonly secret?: string | undefined;
}

/** A client that may know more, as that of a controller's reconciles does: which kinds are owned. */
export type BuilderClient = CachingClient & {
  readonly owns?: readonly TypeReference<KubernetesObject>[] | undefined;
};

/** {@link BuilderOptions} with their defaults. */
export interface BuilderSettings extends ApplySettings {
  /** The namespace of every namespaced object; undefined: a cluster-scoped owner without one. */
  readonly namespace: string | undefined;
  readonly owns: readonly TypeReference<KubernetesObject>[] | undefined;
  readonly onlyOwned: boolean;
  readonly rolloutOrder: readonly string[] | undefined;
  readonly rollout: 'ordered' | 'parallel';
  readonly orderCreation: boolean;
  readonly onResult: ((result: ObjectResult) => void) | undefined;
  readonly hashPrefixes: Resolved<HashPrefixes>;
}

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: an option is missing, of a wrong shape, or contradicts another.
 * @throws OperatorError `InvalidOwner`: the namespaces of the owner and of `namespace` differ.
 */
export function resolveBuilderOptions(options: BuilderOptions): BuilderSettings {
  refuseUnknownOptions('Builder', options, optionNames);
  const { owner, labels = {}, rolloutOrder, scope, hashPrefixes = {} } = options;
  const { rollout = 'ordered', orderCreation = false, onlyOwned = false, onResult } = options;
  const { configMap = 'CONFIGMAP_HASH_', secret = 'SECRET_HASH_' } = hashPrefixes;
  checkLabels(labels);
  checkScope(scope);
  // Spreads of so many members are slow, and this is done in each reconcile.
  return {
    ...applySettings(options),
    owns: visitedKinds(options),
    onlyOwned,
    onResult,
    rolloutOrder,
    orderCreation,
    rollout: resolveRollout(rollout),
    namespace: namespaceOf(owner, options.namespace),
    hashPrefixes: { configMap, secret },
  };
}

const optionNames: OptionNames<BuilderOptions> = {
  ...{ client: true, owner: true, controllerName: true, labels: true, namespace: true },
  ...{ scope: true, owns: true, onlyOwned: true, kinds: true, onImmutable: true, adopt: true },
  ...{ adoptManagers: true, rolloutOrder: true, rollout: true, orderCreation: true },
  ...{ maxDeletions: true, onResult: true, recorder: true, emitter: true, pruneClaims: true },
  ...{ clock: true, logger: true, signal: true, hashPrefixes: true },
};

function resolveRollout(given: string): 'ordered' | 'parallel' {
  if (given === 'ordered' || given === 'parallel') return given;
  const message = `rollout: want 'ordered' or 'parallel', got ${JSON.stringify(given)}`;
  throw new OperatorError('InvalidOption', message);
}

function visitedKinds({ client, owns, kinds }: BuilderOptions): BuilderSettings['owns'] {
  if (owns !== undefined || kinds !== undefined) return [...(owns ?? []), ...(kinds ?? [])];
  // A controller that owns nothing says nothing of what its chains make.
  return client.owns?.length === 0 ? undefined : client.owns;
}

function checkScope(scope: string | undefined): void {
  if (scope === undefined || (scope !== '' && labelValueOf(scope) === scope)) return;
  const message = `scope: want a label value of 1 to 63 characters, got ${JSON.stringify(scope)}`;
  throw new OperatorError('InvalidOption', message);
}

function checkLabels(labels: Readonly<Record<string, string>>): void {
  const problem = labelsProblem(labels);
  if (problem !== undefined) throw new OperatorError('InvalidOption', `labels: ${problem}`);
}

function namespaceOf(owner: KubernetesObject, given: string | undefined): string | undefined {
  const { namespace } = owner.metadata;
  if (namespace === undefined || namespace === '') return given;
  if (given === undefined || given === namespace) return namespace;
  const message = `${describeObject(owner)} can't own objects in namespace ${given}: owner references never cross namespaces; leave the option namespace out`;
  throw new OperatorError('InvalidOwner', message);
}
