import type { StoredAssignment } from './assignment.js';

/** The latest epoch of a record that a member has carried out. */
export interface Acknowledgement {
  /** UID of the record. */
  readonly record: string;
  readonly epoch: number;
}

/** Actions that follow from a change of {@link Possession}. */
export interface PossessionChange {
  /** Slots that this process owns from now on. */
  readonly acquired: readonly number[];
  /** Id of a drain that starts, if any: work on its slots must end. After that, call {@link Possession.drained}. */
  readonly drain: number | undefined;
}

/** State of a slot for this process. */
type SlotState =
  /** Not owned by this process. */
  | 'other'
  /** Owned: work on the slot may start. */
  | 'owned'
  /** Work on the slot must end; it may write meanwhile. */
  | 'draining'
  /** Work on the slot must end and must not write: another process may own the slot. */
  | 'cutOff';

interface Drain {
  readonly slots: readonly number[];
  /** The first epoch that may have taken away one of the slots; undefined if no epoch did. */
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
 * A slot is granted if the newest record has this member as its holder and no target for it. An epoch is acknowledged
 * when all drains have ended that this epoch or an earlier one started.
 */
export class Possession {
  readonly #states: SlotState[];
  readonly #drains = new Map<number, Drain>();
  readonly #superseded = new Set<string>();
  #nextDrain = 1;
  #member: string | undefined;
  /** The newest record seen. */
  #record: StoredAssignment | undefined;
  #isOpen = false;
  #isLeaving = false;

  constructor(slotCount: number) {
    this.#states = Array<SlotState>(slotCount).fill('other');
  }

  /** True if no drain is in progress. */
  get isDrained(): boolean {
    return this.#drains.size === 0;
  }

  /** True if slots may be owned; false while the lease is stale. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get owned(): readonly number[] {
    return this.#slotsWhere((state) => state === 'owned');
  }

  /** Returns whether work on `slot` may start; the caller checks the lease. */
  owns(slot: number): boolean {
    return this.#states[slot] === 'owned';
  }

  /** Returns whether work on `slot` may write; the caller checks the lease. */
  holds(slot: number): boolean {
    return this.#states[slot] === 'owned' || this.#states[slot] === 'draining';
  }

  /** The acknowledgement that may be sent now. */
  get acknowledged(): Acknowledgement | undefined {
    if (this.#record === undefined) return undefined;
    const { uid, epoch } = this.#record;
    let carriedOut = epoch;
    for (const { takenBy } of this.#drains.values()) {
      if (takenBy === undefined) continue;
      // Epochs of different records can't be compared.
      if (takenBy.record !== uid) return undefined;
      carriedOut = Math.min(carriedOut, takenBy.epoch - 1);
    }
    return { record: uid, epoch: carriedOut };
  }

  /** Starts the membership under `name`; no slot is owned until {@link Possession.reopen}. */
  join(name: string): void {
    this.#member = name;
  }

  /**
   * Handles a lease that has become fresh, for the first time or again: from now on, this process owns the slots that
   * the record grants.
   */
  reopen(): PossessionChange {
    this.#isOpen = true;
    return this.#changed([]);
  }

  /** Handles a stale lease: no slot is owned until {@link Possession.reopen}. */
  lapse(): PossessionChange {
    this.#isOpen = false;
    return this.#changed(this.owned);
  }

  /** Releases all slots and takes no more. */
  leave(): PossessionChange {
    this.#isLeaving = true;
    return this.#changed(this.owned);
  }

  /** Handles the loss of the membership: other members may own its slots. */
  expelled(): PossessionChange {
    this.#member = undefined;
    this.#isOpen = false;
    const change = this.#changed(this.owned);
    for (const slot of this.#slotsWhere((state) => state === 'draining')) {
      this.#states[slot] = 'cutOff';
    }
    return change;
  }

  /** Applies `record`, unless it is older than one seen before. */
  see(record: StoredAssignment): PossessionChange {
    if (this.#isOld(record)) return this.#changed([]);
    const { uid, epoch } = this.#record ?? { uid: undefined, epoch: 0 };
    if (uid !== undefined && uid !== record.uid) this.#superseded.add(uid);
    this.#record = record;
    // Epochs may have been missed. Assume the earliest one that can have taken the slots: the one after the last that
    // was seen.
    const taken = { record: record.uid, epoch: uid === record.uid ? epoch + 1 : 1 };
    for (const drain of this.#drains.values()) {
      if (drain.slots.some((slot) => !this.#isGranted(slot))) drain.takenBy ??= taken;
    }
    return this.#changed(
      this.owned.filter((slot) => !this.#isGranted(slot)),
      taken,
    );
  }

  /** Ends a drain: its work has ended or can no longer write. */
  drained(drain: number): PossessionChange {
    for (const slot of this.#drains.get(drain)?.slots ?? []) this.#states[slot] = 'other';
    this.#drains.delete(drain);
    return this.#changed([]);
  }

  /** Older records must be ignored: the slots that they granted may have another owner. */
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
