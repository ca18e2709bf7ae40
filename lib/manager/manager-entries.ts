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
   * have `graceMs` milliseconds for that (the manager's `gracefulShutdownMs`).
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

/** The name of an entry. */
export function entryName(entry: ManagerEntry): string {
  return entry.type === 'controller' ? entry.controller.name : entry.runnable.name;
}

/** What a manager was given to run, in that order. */
export class ManagerEntries implements Iterable<ManagerEntry> {
  readonly #entries = new Set<ManagerEntry>();

  /**
   * @throws OperatorError `InvalidOption`: two controllers, or two runnables, share a name: metrics,
   * logs and checks could not tell them apart.
   */
  add(entry: ManagerEntry): void {
    const name = entryName(entry);
    for (const other of this.#entries) {
      if (other.type !== entry.type || entryName(other) !== name) continue;
      const remedy =
        entry.type === 'controller' ? ': name one of them with withOptions({ name })' : '';
      const message = `two ${entry.type}s are called ${name}${remedy}`;
      throw new OperatorError('InvalidOption', message);
    }
    this.#entries.add(entry);
  }

  delete(entry: ManagerEntry): boolean {
    return this.#entries.delete(entry);
  }

  [Symbol.iterator](): Iterator<ManagerEntry> {
    return [...this.#entries].values();
  }
}
