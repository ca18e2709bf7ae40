import { OperatorError } from '../../system/operator-error.js';

/** The owners of all slots in one epoch. Members are identified by the names of their Leases. */
export interface Assignment {
  /** Starts at 1 and grows by one with each change. */
  readonly epoch: number;
  /**
   * The member that may work on each slot exclusively; undefined if the slot is free. A holder changes only
   * after it has acknowledged the release of the slot, or can no longer hold any.
   */
  readonly holders: readonly (string | undefined)[];
  /** The next holder of each slot once the holder has acknowledged; undefined if the holder keeps it. */
  readonly targets: readonly (string | undefined)[];
  /**
   * Epoch that each listed member must acknowledge before the slots it releases are reassigned. While all
   * slots are free, these are the members that may still hold slots of a lost record.
   */
  readonly awaited: ReadonlyMap<string, number>;
}

/** An {@link Assignment} as stored on the server. */
export interface StoredAssignment extends Assignment {
  /** UID of the stored object; epochs of different objects can't be compared. */
  readonly uid: string;
  readonly resourceVersion: string;
}

interface Text {
  readonly epoch: number;
  readonly members: readonly string[];
  readonly slots: string;
  readonly awaited: Readonly<Record<string, number>>;
}

/**
 * Formats `assignment` as JSON. Its `slots` are runs `<count>*<holder>` or `<count>*<holder>><target>`, with
 * indexes into `members`, `-` for a free slot. For 100 replicas the size is 4 KB initially and 15 KB at
 * worst.
 */
export function formatAssignment(assignment: Assignment): string {
  const { epoch, holders, targets, awaited } = assignment;
  const named = [...holders, ...targets].filter((name) => name !== undefined);
  const members = [...new Set(named)].sort();
  const places = new Map(members.map((name, at) => [name, at]));
  const place = (name: string | undefined): string =>
    String((name === undefined ? undefined : places.get(name)) ?? '-');
  const runs: { count: number; owner: string }[] = [];
  holders.forEach((holder, slot) => {
    const target = targets[slot];
    const owner = target === undefined ? place(holder) : `${place(holder)}>${place(target)}`;
    const run = runs.at(-1);
    if (run?.owner === owner) run.count++;
    else runs.push({ count: 1, owner });
  });
  const slots = runs.map(({ count, owner }) => `${count}*${owner}`).join(',');
  const text: Text = { epoch, members, slots, awaited: Object.fromEntries(awaited) };
  return JSON.stringify(text);
}

/**
 * Reads the output of {@link formatAssignment} for `slotCount` slots.
 * @throws OperatorError `InvalidObject`: the text has another format.
 */
export function parseAssignment(text: string, slotCount: number): Assignment {
  const { epoch, members, slots, awaited } = parsedText(text);
  const holders: (string | undefined)[] = [];
  const targets: (string | undefined)[] = [];
  for (const run of slots.split(',')) {
    const [, count, holder, target] = /^([1-9]\d{0,5})\*(-|\d+)(?:>(\d+))?$/.exec(run) ?? [];
    if (count === undefined || holder === undefined) throw unreadable(`slots ${run}`);
    const holderName = holder === '-' ? undefined : nameAt(members, holder);
    const targetName = target === undefined ? undefined : nameAt(members, target);
    for (let n = 0; n < Number(count) && holders.length <= slotCount; n++) {
      holders.push(holderName);
      targets.push(targetName);
    }
  }
  if (holders.length !== slotCount) throw unreadable(`not ${slotCount} slots`);
  return { epoch, holders, targets, awaited: new Map(Object.entries(awaited)) };
}

/** Returns the members that a record refers to. */
export function membersIn({ holders, targets, awaited }: Assignment): readonly string[] {
  const named = [...holders, ...targets, ...awaited.keys()];
  return [...new Set(named.filter((name) => name !== undefined))];
}

function nameAt(members: readonly string[], place: string): string {
  const name = members[Number(place)];
  if (name === undefined) throw unreadable(`no member ${place}`);
  return name;
}

function parsedText(text: string): Text {
  const { epoch, members, slots, awaited } = parsedJson(text);
  const isText =
    isEpoch(epoch) &&
    typeof slots === 'string' &&
    Array.isArray(members) &&
    members.every((name) => typeof name === 'string') &&
    typeof awaited === 'object' &&
    awaited !== null &&
    Object.values(awaited).every(isEpoch);
  if (!isText) throw unreadable('it has other fields');
  return { epoch, members, slots, awaited: awaited as Text['awaited'] };
}

function parsedJson(text: string): Partial<Record<keyof Text, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    throw unreadable('it is no JSON', error);
  }
  throw unreadable('it is no object');
}

function isEpoch(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function unreadable(why: string, cause?: unknown): OperatorError {
  const message = `the assignment of shards can't be read: ${why}`;
  return new OperatorError('InvalidObject', message, { cause });
}
