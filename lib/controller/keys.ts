import type { Fence } from '../client/index.js';
import type { ObjectKey } from '../object/index.js';
import { keyString, parseKey } from '../object/index.js';
import { LruMap, OperatorError } from '../system/index.js';
import type { Trigger } from './trigger.js';

/** The object key of a reconcile, with the cluster if a controller runs on several. */
export interface ReconcileKey extends ObjectKey {
  /** The name of the cluster. @defaultValue the cluster of the event, else the only one */
  readonly cluster?: string | undefined;
}

/** A complete {@link ReconcileKey} and its text in the queue. */
export interface WorkKey {
  /** `namespace/name`, prefixed with `cluster//` if the cluster has a name. */
  readonly text: string;
  /** The cluster's name; `''` for the only one. */
  readonly cluster: string;
  readonly key: ObjectKey;
}

// Namespaces and names are non-empty and contain no slash, so a key contains no other double slash.
const separator = '//';

/**
 * Completes and checks `key`.
 * @param fallback - the cluster of a key without one
 * @throws OperatorError `InvalidValue`: no object can have such a key.
 */
export function workKeyOf(key: ReconcileKey, fallback = ''): WorkKey {
  const { cluster = fallback, namespace = '', name } = checked(key);
  const plain = namespace === '' ? { name } : { namespace, name };
  const text = keyString(plain);
  return { text: cluster === '' ? text : cluster + separator + text, cluster, key: plain };
}

/** Parses the text of a {@link WorkKey}. */
export function parseWorkKey(text: string): WorkKey {
  const at = text.indexOf(separator);
  const [cluster, rest] = at < 0 ? ['', text] : [text.slice(0, at), text.slice(at + 2)];
  return { text, cluster, key: parseKey(rest) };
}

/** Returns the cluster in the text of a {@link WorkKey}. */
export function clusterIn(text: string): string {
  const at = text.indexOf(separator);
  return at < 0 ? '' : text.slice(0, at);
}

/** Returns the namespace in the text of a {@link WorkKey}, or `''`. */
export function namespaceIn(text: string): string {
  const at = text.indexOf(separator);
  const from = at < 0 ? 0 : at + separator.length;
  const slash = text.indexOf('/', from);
  return slash < 0 ? '' : text.slice(from, slash);
}

// A mapper's keys may have any type at run time.
function checked(key: ReconcileKey): ReconcileKey {
  if (typeof key === 'object' && (key as ReconcileKey | null) !== null) {
    const { cluster = '', namespace = '', name } = key;
    if (name !== '' && isPart(cluster) && isPart(namespace) && isPart(name)) return key;
  }
  const remedy = isObjectItself(key)
    ? 'it is an object: return keyOf(object)'
    : 'want { namespace, name } without slashes, and a name that is not empty';
  throw new OperatorError('InvalidValue', `no object has the key ${shown(key)}; ${remedy}`);
}

function isPart(part: unknown): boolean {
  return typeof part === 'string' && !part.includes('/');
}

function shown(key: unknown): string {
  if (typeof key !== 'object' || key === null) return typeof key === 'string' ? key : typeof key;
  const { cluster, namespace, name } = key as Partial<Record<keyof ReconcileKey, unknown>>;
  return JSON.stringify({ cluster, namespace, name }, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !('name' in value) ? 'an object' : value,
  );
}

/**
 * Selects the keys that this process owns when replicas share a controller's keys. A controller reconciles
 * owned keys only. It drops others from its queue and enqueues them when they are acquired.
 *
 * ## Assumptions
 * - Every replica receives all source events, owned or not, since all replicas watch the kinds. If an event
 *   reaches only one replica (an HTTP callback), its receiver must forward it: best by changing the object,
 *   which all replicas watch.
 * - A source other than a kind may name a key that no replica owns at the time. Every replica that receives
 *   the event records the key, and the replica that acquires it reconciles it. Each replica records up to
 *   10,000 keys that no cache shows.
 */
export interface KeyOwnership {
  /** Returns true if a reconcile of `key` may start now. It must be fast and must not throw. */
  owns(key: ReconcileKey): boolean;
  /** Called once at the start of each reconcile of `key`; the fence is checked before each of its writes. */
  fenceOf(key: ReconcileKey): Fence;
  /**
   * Notifies `listener` of each change from now on.
   * @returns a function that ends the subscription
   */
  subscribe(listener: KeyOwnershipListener): () => void;
}

/** Handles changes of the owned keys in a controller. */
export interface KeyOwnershipListener {
  /**
   * Handles newly owned keys; `owns` already returns true for them. The controller enqueues from its caches
   * as at a start: the objects of its kind, and the keys to which other objects map (their owner may be
   * gone). It also enqueues keys whose objects were deleted while another process owned them.
   * @param isNew - returns true for a newly owned key, so that others can be skipped; if absent, any key may
   *   be new
   */
  acquired(isNew?: (key: ReconcileKey) => boolean): void;
  /**
   * Handles keys about to be released; `owns` already returns false for them. Resolves when their
   * reconciles have ended or can no longer write. After `graceMs` their signals are aborted and their writes
   * refused. A handler that never ends holds its key in this process, but does not block the promise.
   */
  released(graceMs: number): Promise<void>;
}

/** Maximum number of recorded keys that this process does not own now and whose objects are in no cache. */
const maxUnseen = 10_000;

/** The keys that this process may reconcile, and those to enqueue when it acquires them. */
export class OwnedKeys {
  readonly #ownership: KeyOwnership | undefined;
  /**
   * Keys that no cache will enqueue. Either their objects are gone, and the previous owner may not have
   * handled that. Or a source named a key without an object while no replica owned it.
   */
  readonly #unseen = new LruMap<string, WorkKey>(maxUnseen);
  readonly #replays = new WeakMap<Trigger, (key: ReconcileKey) => boolean>();

  /** @param ownership - undefined if this process owns all keys */
  constructor(ownership: KeyOwnership | undefined) {
    this.#ownership = ownership;
  }

  owns(work: WorkKey): boolean {
    return this.#ownership?.owns(requestOf(work)) ?? true;
  }

  /**
   * Returns a trigger that makes the sources enqueue their objects again after this replica acquired more keys.
   * {@link OwnedKeys.isMeant} applies the trigger only to the keys for which `isNew` returns true.
   */
  newReplay(isNew: (key: ReconcileKey) => boolean = () => true): Trigger {
    const trigger: Trigger = { type: 'acquired' };
    this.#replays.set(trigger, isNew);
    return trigger;
  }

  /** Returns true if `trigger` applies to `work`, which is owned. The trigger of a replay applies to new keys only. */
  isMeant(work: WorkKey, trigger: Trigger): boolean {
    return this.#replays.get(trigger)?.(requestOf(work)) ?? true;
  }

  /**
   * Remembers a key that must not be reconciled now and whose object is in no cache. No source enqueues such a key
   * later, for example after this process regains a lapsed lease.
   */
  rememberUnseen(work: WorkKey): void {
    this.#unseen.set(work.text, work);
  }

  /** Returns and removes the recorded keys that are owned. */
  takeUnseen(): WorkKey[] {
    const owned = [...this.#unseen.values()].filter((work) => this.owns(work));
    for (const { text } of owned) this.#unseen.delete(text);
    return owned;
  }

  /** Returns the additional fences for the writes of a reconcile of `work`. */
  fencesOf(work: WorkKey): readonly Fence[] {
    return this.#ownership === undefined ? none : [this.#ownership.fenceOf(requestOf(work))];
  }
}

const none: readonly Fence[] = [];

function requestOf({ cluster, key }: WorkKey): ReconcileKey {
  return cluster === '' ? key : { ...key, cluster };
}

function isObjectItself(key: unknown): boolean {
  const { metadata } = (key ?? {}) as { readonly metadata?: unknown };
  return typeof metadata === 'object' && metadata !== null;
}
