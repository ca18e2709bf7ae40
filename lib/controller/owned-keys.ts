import type { Fence } from '../client/fence.js';
import type { KeyOwnership } from './key-ownership.js';
import type { ReconcileKey, WorkKey } from './reconcile-key.js';
import { parseWorkKey } from './reconcile-key.js';
import type { Trigger } from './trigger.js';

/** So many deletions of objects whose keys are not ours are remembered. */
const maxDeletions = 10_000;

/** Which keys this process may reconcile, and what has to be looked at when they become ours. */
export class OwnedKeys {
  readonly #ownership: KeyOwnership | undefined;
  /** Deletions that a former owner may not have lived to see to. No cache shows these objects. */
  readonly #deletions = new Set<string>();
  readonly #replays = new WeakMap<Trigger, (key: ReconcileKey) => boolean>();

  /** @param ownership - undefined: all of them, always */
  constructor(ownership: KeyOwnership | undefined) {
    this.#ownership = ownership;
  }

  owns(work: WorkKey): boolean {
    return this.#ownership?.owns(requestOf(work)) ?? true;
  }

  /**
   * What to say when sources are asked for everything again, since more keys are owned: then only
   * those that are new are accepted.
   */
  newReplay(isNew: (key: ReconcileKey) => boolean = () => true): Trigger {
    const trigger: Trigger = { type: 'acquired' };
    this.#replays.set(trigger, isNew);
    return trigger;
  }

  /** Whether `work` may be queued; what happened to it is remembered otherwise, where it has to be. */
  accepts(work: WorkKey, trigger: Trigger): boolean {
    if (this.owns(work)) return this.#replays.get(trigger)?.(requestOf(work)) ?? true;
    if (trigger.type === 'event' && trigger.event === 'deleted') this.rememberDeletion(work);
    return false;
  }

  /**
   * Takes note that the object of `work` is gone, which is not ours any more or not yet: no cache will
   * tell of it when it is ours again, as when a lease has lapsed and this process gets it back.
   */
  rememberDeletion(work: WorkKey): void {
    const [oldest] = this.#deletions;
    if (this.#deletions.size >= maxDeletions && oldest !== undefined) {
      this.#deletions.delete(oldest);
    }
    this.#deletions.add(work.text);
  }

  /** Hands over the keys, now owned, whose objects were deleted while they were not. */
  takeDeletions(): WorkKey[] {
    const owned = [...this.#deletions].map(parseWorkKey).filter((work) => this.owns(work));
    for (const { text } of owned) this.#deletions.delete(text);
    return owned;
  }

  /** What the writes of a reconcile of `work` have to ask, beside what all have to. */
  fencesOf(work: WorkKey): readonly Fence[] {
    return this.#ownership === undefined ? [] : [this.#ownership.fenceOf(requestOf(work))];
  }
}

function requestOf({ cluster, key }: WorkKey): ReconcileKey {
  return cluster === '' ? key : { ...key, cluster };
}
