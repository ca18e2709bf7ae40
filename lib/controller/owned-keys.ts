import type { Fence } from '../client/fence.js';
import type { KeyOwnership } from './key-ownership.js';
import type { ReconcileKey, WorkKey } from './reconcile-key.js';
import { parseWorkKey } from './reconcile-key.js';
import type { Trigger } from './trigger.js';

/** The maximum number of remembered keys that this process does not own and no cache shows. */
const maxUnseen = 10_000;

/** The keys that this process may reconcile, and those to enqueue when it acquires them. */
export class OwnedKeys {
  readonly #ownership: KeyOwnership | undefined;
  /**
   * Keys that no cache will enqueue: keys whose objects are gone, which the previous owner may not have
   * handled, and keys without an object that a source named while no replica owned them.
   */
  readonly #unseen = new Set<string>();
  readonly #replays = new WeakMap<Trigger, (key: ReconcileKey) => boolean>();

  /** @param ownership - undefined if this process owns all keys */
  constructor(ownership: KeyOwnership | undefined) {
    this.#ownership = ownership;
  }

  owns(work: WorkKey): boolean {
    return this.#ownership?.owns(requestOf(work)) ?? true;
  }

  /**
   * Returns the trigger for a replay of the sources after more keys were acquired. `isMeant`
   * then accepts only new keys.
   */
  newReplay(isNew: (key: ReconcileKey) => boolean = () => true): Trigger {
    const trigger: Trigger = { type: 'acquired' };
    this.#replays.set(trigger, isNew);
    return trigger;
  }

  /** Returns true if `trigger` applies to `work`, which is owned: a replay applies to new keys only. */
  isMeant(work: WorkKey, trigger: Trigger): boolean {
    return this.#replays.get(trigger)?.(requestOf(work)) ?? true;
  }

  /**
   * Remembers `work`, which is not owned now and whose object no cache shows. No source will enqueue it when
   * it is acquired, for example when this process regains a lapsed lease.
   */
  rememberUnseen(work: WorkKey): void {
    const [oldest] = this.#unseen;
    if (this.#unseen.size >= maxUnseen && oldest !== undefined) this.#unseen.delete(oldest);
    this.#unseen.add(work.text);
  }

  /** Returns and removes the remembered keys that are now owned. */
  takeUnseen(): WorkKey[] {
    const owned = [...this.#unseen].map(parseWorkKey).filter((work) => this.owns(work));
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
