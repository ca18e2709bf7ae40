/** A part of a {@link Patch}. */
export type PatchPart = 'create' | 'delete' | 'update';

/** A change that was set; it may be undefined. */
export interface SetChange<Change> {
  readonly change: Change;
}

/**
 * What a CRUD resource is about to do, in up to three parts. A part that was set is carried out,
 * whatever its value; one that was not set is not.
 */
export class Patch<Change> {
  readonly #changes = new Map<PatchPart, SetChange<Change>>();

  /** Has `applyCreateChange` called with `change`. @returns this */
  setCreateChange(change: Change): this {
    return this.#set('create', change);
  }

  /** Has `applyDeleteChange` called with `change`. @returns this */
  setDeleteChange(change: Change): this {
    return this.#set('delete', change);
  }

  /** Has `applyUpdateChange` called with `change`. @returns this */
  setUpdateChange(change: Change): this {
    return this.#set('update', change);
  }

  /** What was set of a part; undefined: nothing was. */
  changeOf(part: PatchPart): SetChange<Change> | undefined {
    return this.#changes.get(part);
  }

  #set(part: PatchPart, change: Change): this {
    this.#changes.set(part, { change });
    return this;
  }
}
