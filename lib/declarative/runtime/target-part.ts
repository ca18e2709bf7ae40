import { hashObject } from '../../hash/hash-object.js';
import { ApiError, isApiError, isInvalid } from '../../object/api-error.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { keyStringOf } from '../../object/object-key.js';
import { fieldElement } from '../../object/field-path.js';
import { appliedFields } from '../../object/managed-fields.js';
import { appliedDifferences } from './applied-differences.js';
import type { AppliedPart } from './applied-differences.js';
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
   * @throws ApiError 409 also where the object was deleted and made again since it was read
   */
  async apply(
    { live, desired }: LiveAndDesired,
    context: WriteContext,
  ): Promise<UnstructuredObject> {
    const before = live && this.#differences(live, desired);
    if (live !== undefined && before === undefined) return live;
    const text = keyStringOf(desired);
    if (live !== undefined && before === this.#left.get(text)) return live;
    const { manager, subresource } = this.#part;
    const options = { fieldManager: manager, force: true, signal: context.signal };
    const { object } = await conflictIfReplaced(
      context.client.apply(withUid(desired, live), {
        ...options,
        ...(subresource !== '' && { subresource }),
      }),
    );
    const after = this.#differences(object, desired);
    if (after === undefined) this.#left.delete(text);
    else this.#left.set(text, after);
    return object;
  }

  /** Forgets an object that is not wanted any more. */
  forget(desired: UnstructuredObject): void {
    this.#left.delete(keyStringOf(desired));
  }

  /** A hash of what differs; undefined: nothing does. */
  #differences(live: UnstructuredObject, desired: UnstructuredObject): string | undefined {
    const differences = appliedDifferences(live, desired, this.#part);
    if (differences.length === 0) return undefined;
    return hashObject([live.metadata.uid, desired, differences]);
  }
}

function withUid(desired: UnstructuredObject, live: UnstructuredObject | undefined) {
  const uid = live?.metadata.uid;
  if (uid === undefined) return desired;
  return { ...desired, metadata: { ...desired.metadata, uid } };
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
