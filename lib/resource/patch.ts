/** A part of a {@link Patch}. */
export type PatchPart = 'create' | 'delete' | 'update';

/** A change that was set; it may be undefined. */
export interface SetChange<Change> {
  readonly change: Change;
}

/**
 * The changes that a CRUD resource will make, in up to three parts. A part that was set is applied, whatever
 * its value.
 */
export class Patch<Change> {
  readonly #changes = new Map<PatchPart, SetChange<Change>>();

  /** Sets the argument of `applyCreateChange`. @returns this */
  setCreateChange(change: Change): this {
    return this.#set('create', change);
  }

  /** Sets the argument of `applyDeleteChange`. @returns this */
  setDeleteChange(change: Change): this {
    return this.#set('delete', change);
  }

  /** Sets the argument of `applyUpdateChange`. @returns this */
  setUpdateChange(change: Change): this {
    return this.#set('update', change);
  }

  /** Returns the change of a part; undefined if it was not set. */
  changeOf(part: PatchPart): SetChange<Change> | undefined {
    return this.#changes.get(part);
  }

  #set(part: PatchPart, change: Change): this {
    this.#changes.set(part, { change });
    return this;
  }
}
