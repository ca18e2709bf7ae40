import { hashObject } from '../../hash/hash-object.js';
import { ApiError, isApiError, isInvalid } from '../../object/api-error.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { keyStringOf } from '../../object/object-key.js';
import { fieldElement } from '../../object/field-path.js';
import { appliedFields } from '../../object/managed-fields.js';
import { appliedDifferences } from './applied-differences.js';
import type { AppliedDifference, AppliedPart } from './applied-differences.js';
import { withoutDroppedFields } from './dropped-fields.js';
import type { WriteContext } from './target-writer.js';

/** A live object, undefined if it does not exist, and its desired state. */
export interface LiveAndDesired {
  readonly live: UnstructuredObject | undefined;
  readonly desired: UnstructuredObject;
}

/** Applies one part of objects under one field manager, if the apply would change it. */
export class TargetPart {
  readonly #part: AppliedPart;
  /**
   * Hashes, by object, of the differences that remain after an apply, because the server spells values
   * differently.
   */
  readonly #left = new Map<string, string>();

  constructor(part: AppliedPart) {
    this.#part = part;
  }

  /** Whether the manager has applied any field of `live`. */
  isIn(live: UnstructuredObject): boolean {
    const { manager, subresource } = this.#part;
    return appliedFields(live, manager, { subresource }) !== undefined;
  }

  /** Whether the manager has applied the member `name` of `live` or a part of it. */
  has(live: UnstructuredObject, name: string): boolean {
    const { manager, subresource } = this.#part;
    const applied = appliedFields(live, manager, { subresource });
    return applied?.root[fieldElement(name)] !== undefined;
  }

  /**
   * Applies `desired`. Fields that were applied before and are not in it are removed.
   * @returns the resulting object: `live` itself if it is up to date
   * @throws ApiError 409 if the object was changed, created, or deleted since it was read
   */
  async apply(
    { live, desired }: LiveAndDesired,
    context: WriteContext,
  ): Promise<UnstructuredObject> {
    const differences = live === undefined ? [] : appliedDifferences(live, desired, this.#part);
    if (live !== undefined && differences.length === 0) return live;
    const text = keyStringOf(desired);
    if (live !== undefined && hashOf(live, desired, differences) === this.#left.get(text)) {
      return live;
    }
    const ready = await this.#release(live, differences, context);
    const write = context.client.apply(asRead(desired, ready), {
      ...this.#options(context),
      force: true,
    });
    const { object } = await conflictIfReplaced(write);
    const left = appliedDifferences(object, desired, this.#part);
    if (left.length === 0) this.#left.delete(text);
    else this.#left.set(text, hashOf(object, desired, left));
    return object;
  }

  /** Removes with an update the fields that an apply cannot remove. */
  async #release(
    live: UnstructuredObject | undefined,
    differences: readonly AppliedDifference[],
    context: WriteContext,
  ): Promise<UnstructuredObject | undefined> {
    const dropped = differences.filter(({ type }) => type === 'dropped').map(({ path }) => path);
    const without = live && withoutDroppedFields(live, dropped, this.#part);
    if (without === undefined) return live;
    return conflictIfReplaced(context.client.update(without, this.#options(context)));
  }

  #options({ signal }: WriteContext) {
    const { manager, subresource } = this.#part;
    const options = { fieldManager: manager, signal };
    return subresource === '' ? options : { ...options, subresource };
  }

  /** Discards the state of an object that is no longer desired. */
  forget(desired: UnstructuredObject): void {
    this.#left.delete(keyStringOf(desired));
  }
}

function hashOf(
  live: UnstructuredObject,
  desired: UnstructuredObject,
  differences: readonly AppliedDifference[],
): string {
  return hashObject([live.metadata.uid, desired, differences]);
}

/**
 * Adds the resource version that was read, so that a late write of a former leader is a conflict. A missing
 * object gets version 1, which no object has: the apply fails if the object was created meanwhile.
 */
function asRead(desired: UnstructuredObject, live: UnstructuredObject | undefined) {
  const { uid, resourceVersion = '1' } = live?.metadata ?? {};
  const read = { ...(uid !== undefined && { uid }), resourceVersion };
  return { ...desired, metadata: { ...desired.metadata, ...read } };
}

/** Turns a 422 on the UID into a conflict: another object has the name now. */
export async function conflictIfReplaced<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (!isApiError(error) || !isInvalid(error)) throw error;
    if (!error.causes.some(({ field }) => field === 'metadata.uid')) throw error;
    const body = { ...error.body, code: 409, reason: 'Conflict' };
    throw new ApiError(body, { ...error.context, status: 409 });
  }
}
