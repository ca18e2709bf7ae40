import type { StoredAssignment } from './assignment.js';

/** What a member tells of a record: which epoch of which it has carried out. */
export interface Acknowledgement {
  /** UID of the record. */
  readonly record: string;
  readonly epoch: number;
}

/** What a change of {@link Possession} asks for. */
export interface PossessionChange {
  /** Slots that are owned from now on. */
  readonly acquired: readonly number[];
  /** Work on slots has to end; told when it did by {@link Possession.drained}. */
  readonly drain: number | undefined;
}

/** What a slot is to this process. */
type SlotState =
  /** Not ours. */
  | 'other'
  /** Work on it may begin. */
  | 'owned'
  /** Work on it has to end, and may write meanwhile. */
  | 'draining'
  /** Work on it has to end, and must not write: somebody else may own it. */
  | 'cutOff';

interface Drain {
  readonly slots: readonly number[];
  /** The first epoch that may have taken one of its slots away; undefined: none did. */
  takenBy: Acknowledgement | undefined;
}

/**
 * The slots of one process, as a state machine:
 *
 * ```text
 *          granted                taken away, lease stale, leaving
 *  other ----------> owned ---------------------------------------> draining
 *    ^                 |                                                |
 *    |                 | expelled                              expelled |
 *    |                 +------------------> cutOff <--------------------+
 *    |    drained                             |                         |
 *    +----------------------------------------+-------------------------+
 * ```
 *
 * A slot is granted when the newest record has this member as its holder and no target for it. An
 * epoch is acknowledged when nothing drains any more that it, or one before it, took away.
 */
export class Possession {
  readonly #states: SlotState[];
  readonly #drains = new Map<number, Drain>();
  readonly #superseded = new Set<string>();
  #nextDrain = 1;
  #member: string | undefined;
  #record: StoredAssignment | undefined;
  #isOpen = false;
  #isLeaving = false;

  constructor(slotCount: number) {
    this.#states = Array<SlotState>(slotCount).fill('other');
  }

  /** The newest record seen. */
  get record(): StoredAssignment | undefined {
    return this.#record;
  }

  /** Whether nothing has to end any more. */
  get isDrained(): boolean {
    return this.#drains.size === 0;
  }

  /** Whether slots are given up because the lease was stale. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** How many slots are owned. */
  get owned(): readonly number[] {
    return this.#slotsWhere((state) => state === 'owned');
  }

  /** Whether work on `slot` may begin; whether the lease is fresh is another question. */
  owns(slot: number): boolean {
    return this.#states[slot] === 'owned';
  }

  /** Whether work on `slot` may write; whether the lease is fresh is another question. */
  holds(slot: number): boolean {
    return this.#states[slot] === 'owned' || this.#states[slot] === 'draining';
  }

  /** What may be acknowledged. */
  get acknowledged(): Acknowledgement | undefined {
    if (this.#record === undefined) return undefined;
    const { uid, epoch } = this.#record;
    let carriedOut = epoch;
    for (const { takenBy } of this.#drains.values()) {
      if (takenBy === undefined) continue;
      // Epochs of two records can't be compared.
      if (takenBy.record !== uid) return undefined;
      carriedOut = Math.min(carriedOut, takenBy.epoch - 1);
    }
    return { record: uid, epoch: carriedOut };
  }

  /** This process is the member `name` now, whose lease is fresh. */
  join(name: string): PossessionChange {
    this.#member = name;
    this.#isOpen = true;
    return this.#changed([]);
  }

  /** The lease is fresh again: what is still granted is owned again. */
  reopen(): PossessionChange {
    this.#isOpen = true;
    return this.#changed([]);
  }

  /** The lease is not fresh: nothing is owned until {@link Possession.reopen}. */
  lapse(): PossessionChange {
    this.#isOpen = false;
    return this.#changed(this.owned);
  }

  /** It is to end: all is given up, and nothing is taken any more. */
  leave(): PossessionChange {
    this.#isLeaving = true;
    return this.#changed(this.owned);
  }

  /** This process is no member any more: others may own what it had. */
  expelled(): PossessionChange {
    this.#member = undefined;
    this.#isOpen = false;
    const change = this.#changed(this.owned);
    for (const slot of this.#slotsWhere((state) => state === 'draining')) {
      this.#states[slot] = 'cutOff';
    }
    return change;
  }

  /** Heeds `record`, unless it is older than one that was seen: then it says nothing. */
  see(record: StoredAssignment): PossessionChange {
    if (this.#isOld(record)) return this.#changed([]);
    const { uid, epoch } = this.#record ?? { uid: undefined, epoch: 0 };
    if (uid !== undefined && uid !== record.uid) this.#superseded.add(uid);
    this.#record = record;
    // Epochs may have been missed: the first one after the last that was seen may be the one.
    const taken = { record: record.uid, epoch: uid === record.uid ? epoch + 1 : 1 };
    for (const drain of this.#drains.values()) {
      if (drain.slots.some((slot) => !this.#isGranted(slot))) drain.takenBy ??= taken;
    }
    return this.#changed(
      this.owned.filter((slot) => !this.#isGranted(slot)),
      taken,
    );
  }

  /** Work that `drain` asked to end has ended, or can do nothing any more. */
  drained(drain: number): PossessionChange {
    for (const slot of this.#drains.get(drain)?.slots ?? []) this.#states[slot] = 'other';
    this.#drains.delete(drain);
    return this.#changed([]);
  }

  /** A record that was seen must not be taken back: what it granted may be another's by now. */
  #isOld({ uid, epoch }: StoredAssignment): boolean {
    if (this.#superseded.has(uid)) return true;
    return this.#record?.uid === uid && epoch <= this.#record.epoch;
  }

  #isGranted(slot: number): boolean {
    const { holders = [], targets = [] } = this.#record ?? {};
    const isHolder = this.#member !== undefined && holders[slot] === this.#member;
    return isHolder && targets[slot] === undefined;
  }

  #changed(released: readonly number[], takenBy?: Acknowledgement): PossessionChange {
    let drain: number | undefined;
    if (released.length > 0) {
      drain = this.#nextDrain++;
      this.#drains.set(drain, { slots: released, takenBy });
      for (const slot of released) this.#states[slot] = 'draining';
    }
    return { acquired: this.#grow(), drain };
  }

  #grow(): readonly number[] {
    if (!this.#isOpen || this.#isLeaving) return [];
    const more = this.#slotsWhere((state, slot) => state === 'other' && this.#isGranted(slot));
    for (const slot of more) this.#states[slot] = 'owned';
    return more;
  }

  #slotsWhere(matches: (state: SlotState, slot: number) => boolean): number[] {
    return this.#states.flatMap((state, slot) => (matches(state, slot) ? [slot] : []));
  }
}
