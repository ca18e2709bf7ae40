import type { Controller } from '../controller/controller.js';
import { OperatorError } from '../system/operator-error.js';
import type { RequiredAccess } from './access/required-access.js';
import type { Runnable } from './runnable.js';

/** Options of `Manager.add`. */
export interface ManagerAddOptions {
  /**
   * Where a controller reconciles: on the leader, or on every replica. A runnable says it itself.
   * @defaultValue 'leader'
   */
  readonly phase?: 'replica' | 'leader' | undefined;
  /**
   * Spread the keys of a controller over all replicas: it reconciles on each of them, and each key on
   * one at a time. Not together with `phase`. See `ManagerOptions.shards`. @defaultValue false
   */
  readonly shards?: boolean | undefined;
  /**
   * What it does beside watching the kinds of a controller, for the preflight of permissions.
   * @defaultValue nothing
   */
  readonly requires?: readonly RequiredAccess[] | undefined;
}

/** Something that was added to a manager. */
export interface Added {
  readonly name: string;
  /**
   * Stops it, if it runs, and takes it out; resolves when it has ended. Reconciles, or the runnable,
   * have `graceMs` milliseconds for that (the manager's `gracefulShutdownMs`). Its name is free again
   * when this has settled, not before: else two could work on one key.
   */
  remove(graceMs?: number): Promise<void>;
}

/** Where a controller reconciles; `shards`: on every replica its share of the keys. */
export type ControllerPhase = 'replica' | 'leader' | 'shards';

/** A controller of a manager. */
export interface ControllerEntry {
  readonly type: 'controller';
  readonly controller: Controller;
  readonly phase: ControllerPhase;
  readonly requires: readonly RequiredAccess[];
}

/** A runnable of a manager. */
export interface RunnableEntry {
  readonly type: 'runnable';
  readonly runnable: Runnable;
  readonly requires: readonly RequiredAccess[];
}

/** What was added to a manager. */
export type ManagerEntry = ControllerEntry | RunnableEntry;

/**
 * Plain JavaScript can add what is neither; and so can a description that was not ended, whose type
 * the compiler would refuse.
 * @throws OperatorError `InvalidOption`: `item` is no controller and no runnable.
 */
export function refuseOther(item: unknown): void {
  if (typeof item === 'object' && item !== null) {
    if ('run' in item && typeof item.run === 'function') return;
    if ('start' in item && typeof item.start === 'function') return;
  }
  const isOpen = typeof item === 'object' && item !== null && 'complete' in item;
  const remedy = isOpen ? ': end its description with complete(reconciler)' : '';
  throw new OperatorError('InvalidOption', `add: want a controller or a runnable${remedy}`);
}

/** The name of an entry. */
export function entryName(entry: ManagerEntry): string {
  return entry.type === 'controller' ? entry.controller.name : entry.runnable.name;
}

/** What a manager was given to run, in that order. */
export class ManagerEntries implements Iterable<ManagerEntry> {
  readonly #entries = new Set<ManagerEntry>();
  readonly #leaving = new Set<ManagerEntry>();
  /** Whether something was given a recorder of events. */
  writesEvents = false;

  /** Those that were taken out and have not ended. */
  get leaving(): readonly ManagerEntry[] {
    return [...this.#leaving];
  }

  /**
   * @throws OperatorError `InvalidOption`: two controllers, or two runnables, share a name: metrics,
   * logs and checks could not tell them apart. Also while the other one is being removed.
   */
  add(entry: ManagerEntry): void {
    const name = entryName(entry);
    for (const other of [...this.#entries, ...this.#leaving]) {
      if (other.type !== entry.type || entryName(other) !== name) continue;
      if (this.#leaving.has(other)) {
        const message = `${entry.type} ${name} is being removed: wait until remove() has resolved`;
        throw new OperatorError('InvalidOption', message);
      }
      const remedy =
        entry.type === 'controller' ? ': name one of them with withOptions({ name })' : '';
      const message = `two ${entry.type}s are called ${name}${remedy}`;
      throw new OperatorError('InvalidOption', message);
    }
    this.#entries.add(entry);
  }

  /** Takes an entry out; its name stays taken until `ended` has settled. */
  async delete(entry: ManagerEntry, ended: () => Promise<void> | undefined): Promise<void> {
    const isFirst = this.#entries.delete(entry);
    if (!isFirst && !this.#leaving.has(entry)) return;
    this.#leaving.add(entry);
    try {
      // Asked again it may have less time.
      const ending = ended();
      if (ending !== undefined) await ending;
    } finally {
      this.#leaving.delete(entry);
    }
  }

  [Symbol.iterator](): Iterator<ManagerEntry> {
    return [...this.#entries].values();
  }
}
