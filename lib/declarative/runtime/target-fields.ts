import { isNotFound } from '../../object/api-error.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { bareObject, statusObject } from './target-object.js';
import type { TargetKey, TargetObject } from './target-object.js';
import { TargetPart } from './target-part.js';
import type { WriteContext } from './target-writer.js';

/** An object as it is, undefined where there is none, and what a document wants of it. */
export interface Wanted {
  readonly live: UnstructuredObject | undefined;
  readonly target: TargetKey;
  /** Nothing wanted: all that was applied goes. */
  readonly wanted: TargetObject;
}

/** Where the status of a kind is written. */
type StatusPlace = 'subresource' | 'object';

/**
 * Applies what documents want under one field manager: the object, and its status where the kind has one.
 * Whether that is a subresource shows in `managedFields`, or when it is written for the first time.
 */
export class TargetFields {
  readonly #main: TargetPart;
  readonly #status: TargetPart;
  #place: StatusPlace | undefined;

  constructor(manager: string) {
    this.#main = new TargetPart({ manager, subresource: '' });
    this.#status = new TargetPart({ manager, subresource: 'status' });
  }

  /** Whether anything of `live` was applied under the manager. */
  isIn(live: UnstructuredObject): boolean {
    return this.#main.isIn(live) || this.#status.isIn(live);
  }

  /** Whether a status was applied under the manager as a field of the object like any other. */
  hasStatusInside(live: UnstructuredObject): boolean {
    return this.#main.has(live, 'status');
  }

  /** @returns what is there then: `live` itself where all is as wanted */
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
    // Where the kind has got the subresource meanwhile, the server has left the status out.
    if (place === 'object' && this.hasStatusInside(written)) return written;
    const desired = statusObject(target, status);
    try {
      const answer = await this.#status.apply({ live: written, desired }, context);
      this.#place = 'subresource';
      return answer;
    } catch (error) {
      // The object is gone, or its kind has no such subresource.
      if (!isNotFound(error) || place === 'subresource') throw error;
      this.#place = 'object';
      return this.#main.apply({ live: written, desired: whole }, context);
    }
  }

  /** Forgets an object that is not wanted any more. */
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
