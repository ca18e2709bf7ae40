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

/** An object as it is, undefined where there is none, and as it is to be. */
export interface LiveAndDesired {
  readonly live: UnstructuredObject | undefined;
  readonly desired: UnstructuredObject;
}

/** Applies one part of objects under one field manager, where that would change anything. */
export class TargetPart {
  readonly #part: AppliedPart;
  /** What an apply leaves different, since the server spells it otherwise: hashes by object. */
  readonly #left = new Map<string, string>();

  constructor(part: AppliedPart) {
    this.#part = part;
  }

  /** Whether anything of `live` is the manager's, by an apply. */
  isIn(live: UnstructuredObject): boolean {
    const { manager, subresource } = this.#part;
    return appliedFields(live, manager, { subresource }) !== undefined;
  }

  /** Whether anything of the member `name` of `live` is the manager's, by an apply. */
  has(live: UnstructuredObject, name: string): boolean {
    const { manager, subresource } = this.#part;
    const applied = appliedFields(live, manager, { subresource });
    return applied?.root[fieldElement(name)] !== undefined;
  }

  /**
   * Applies `desired`. What was applied before and is not in it goes.
   * @returns what is there then: `live` itself where it is as desired
   * @throws ApiError 409 where the object was changed, made, or deleted since it was read
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

  /** Takes away by an update what an apply can't. */
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

  /** Forgets an object that is not wanted any more. */
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
 * With the version that was read: what arrives late, from a leader that was stopped, is a conflict. No
 * object is ever of version 1, so that what was not there must not have been made meanwhile either.
 */
function asRead(desired: UnstructuredObject, live: UnstructuredObject | undefined) {
  const { uid, resourceVersion = '1' } = live?.metadata ?? {};
  const read = { ...(uid !== undefined && { uid }), resourceVersion };
  return { ...desired, metadata: { ...desired.metadata, ...read } };
}

/** Has a 422 on the UID, which means that another object has the name now, be the conflict that it is. */
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
