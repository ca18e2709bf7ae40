import { AppliedPart } from '../../apply/index.js';
import { isNotFound } from '../../object/api-error.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { bareObject, statusObject } from './target-object.js';
import type { TargetKey, TargetObject } from './target-object.js';
import type { WriteContext } from './target-writer.js';

/** A live object, undefined if it does not exist, and the desired state of a document. */
export interface Wanted {
  readonly live: UnstructuredObject | undefined;
  readonly target: TargetKey;
  /** An object without fields removes everything that was applied. */
  readonly wanted: TargetObject;
}

/** The place of the status of a kind. */
type StatusPlace = 'subresource' | 'object';

/**
 * Applies the desired state of documents under one field manager: the object, and its status if it has one.
 * `managedFields`, or the first write, shows whether the status is a subresource.
 */
export class TargetFields {
  readonly #main: AppliedPart;
  readonly #status: AppliedPart;
  #place: StatusPlace | undefined;

  constructor(manager: string) {
    this.#main = new AppliedPart({ manager, subresource: '' });
    this.#status = new AppliedPart({ manager, subresource: 'status' });
  }

  /** Whether the manager has applied any field of `live`. */
  isIn(live: UnstructuredObject): boolean {
    return this.#main.isIn(live) || this.#status.isIn(live);
  }

  /** Whether the manager has applied the status as an ordinary field of the object. */
  hasStatusInside(live: UnstructuredObject): boolean {
    return this.#main.has(live, 'status');
  }

  /** Whether {@link TargetFields.apply} would write nothing, as far as is known. */
  isCurrent(
    live: UnstructuredObject,
    { target, wanted }: Pick<Wanted, 'target' | 'wanted'>,
  ): boolean {
    const { object, status } = wanted;
    const place = this.#placeIn(live);
    const main = place === 'object' && status !== undefined ? { ...object, status } : object;
    if (!this.#main.isCurrent(live, main)) return false;
    if (status === undefined && !this.#status.isIn(live)) return true;
    if (place === 'object') return this.hasStatusInside(live);
    return this.#status.isCurrent(live, statusObject(target, status));
  }

  /** @returns the resulting object: `live` itself if it is up to date */
  async apply(
    { live, target, wanted }: Wanted,
    context: WriteContext,
  ): Promise<UnstructuredObject> {
    const { object, status } = wanted;
    const place = this.#placeIn(live);
    const whole = status === undefined ? object : { ...object, status };
    const main = place === 'object' ? whole : object;
    const written = await this.#main.apply({ live, desired: main }, context);
    if (status === undefined && !this.#status.isIn(written)) return written;
    // If the kind has gained the subresource meanwhile, the server has ignored the status.
    if (place === 'object' && this.hasStatusInside(written)) return written;
    const desired = statusObject(target, status);
    try {
      const answer = await this.#status.apply({ live: written, desired }, context);
      this.#place = 'subresource';
      return answer;
    } catch (error) {
      // The object is gone, or its kind has no status subresource.
      if (!isNotFound(error) || place === 'subresource') throw error;
      this.#place = 'object';
      return this.#main.apply({ live: written, desired: whole }, context);
    }
  }

  /** Discards the state of an object that is no longer desired. */
  forget(target: TargetKey): void {
    this.#main.forget(bareObject(target));
    this.#status.forget(bareObject(target));
  }

  #placeIn(live: UnstructuredObject | undefined): StatusPlace | undefined {
    const entries = live?.metadata.managedFields ?? [];
    if (entries.some(({ subresource }) => subresource === 'status')) return 'subresource';
    return live !== undefined && this.hasStatusInside(live) ? 'object' : this.#place;
  }
}
