import type { Fence } from '../client/fence.js';
import type { KeyOwnership } from './key-ownership.js';
import type { ReconcileKey, WorkKey } from './reconcile-key.js';
import { parseWorkKey } from './reconcile-key.js';
import type { Trigger } from './trigger.js';

/** So many keys that are not ours, and that no cache shows, are remembered. */
const maxUnseen = 10_000;

/** Which keys this process may reconcile, and what has to be looked at when they become ours. */
export class OwnedKeys {
  readonly #ownership: KeyOwnership | undefined;
  /**
   * What no cache will tell of: keys whose objects are gone, which a former owner may not have lived
   * to see to, and those without an object that a source named while nobody owned them.
   */
  readonly #unseen = new Set<string>();
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

  /** Whether `work`, which is ours, is asked for by `trigger`: of a replay only what is new is. */
  isMeant(work: WorkKey, trigger: Trigger): boolean {
    return this.#replays.get(trigger)?.(requestOf(work)) ?? true;
  }

  /**
   * Takes note of `work`, which is not ours any more or not yet, and whose object no cache shows: none
   * will tell of it when it is ours, as when a lease has lapsed and this process gets it back.
   */
  rememberUnseen(work: WorkKey): void {
    const [oldest] = this.#unseen;
    if (this.#unseen.size >= maxUnseen && oldest !== undefined) this.#unseen.delete(oldest);
    this.#unseen.add(work.text);
  }

  /** Hands over the keys, now owned, that were remembered while they were not. */
  takeUnseen(): WorkKey[] {
    const owned = [...this.#unseen].map(parseWorkKey).filter((work) => this.owns(work));
    for (const { text } of owned) this.#unseen.delete(text);
    return owned;
  }

  /** What the writes of a reconcile of `work` have to ask, beside what all have to. */
  fencesOf(work: WorkKey): readonly Fence[] {
    return this.#ownership === undefined ? none : [this.#ownership.fenceOf(requestOf(work))];
  }
}

const none: readonly Fence[] = [];

function requestOf({ cluster, key }: WorkKey): ReconcileKey {
  return cluster === '' ? key : { ...key, cluster };
}
