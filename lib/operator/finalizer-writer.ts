import { addFinalizer } from '../client/index.js';
import type { Client } from '../client/index.js';
import { deepEqual } from '../object/index.js';
import type { KubernetesObject } from '../object/index.js';
import { LruMap } from '../system/index.js';

const rememberedWrites = 10_000;

/** Marks a request that is still unanswered. */
const unanswered = Symbol('unanswered');

/** Adds a finalizer to objects, and recognizes its own writes. */
export class FinalizerWriter<T extends KubernetesObject> {
  readonly #finalizer: string;
  /** The resourceVersion of the last write of each object, by uid. */
  readonly #written = new LruMap<string, string | typeof unanswered>(rememberedWrites);

  constructor(finalizer: string) {
    this.#finalizer = finalizer;
  }

  /**
   * Returns true if `old` and `object` differ only in the finalizer that this process added, so that no reconcile is
   * needed: the reconcile that added the finalizer continues.
   */
  isOwnWrite(old: T, object: T): boolean {
    const { uid = '', resourceVersion } = object.metadata;
    const written = this.#written.get(uid);
    if (written === undefined) return false;
    if (written !== unanswered && written !== resourceVersion) return false;
    const { finalizers = [] } = old.metadata;
    const added = [...finalizers, this.#finalizer];
    return deepEqual(
      withFinalizers(old, added),
      withFinalizers(object, object.metadata.finalizers),
    );
  }

  /** Adds the finalizer unless the object has it. @returns the current object */
  async add(client: Client, object: T, signal: AbortSignal): Promise<T> {
    const finalizer = this.#finalizer;
    const { uid = '', finalizers } = object.metadata;
    if (finalizers?.includes(finalizer) === true) return object;
    this.#written.set(uid, unanswered);
    let resourceVersion: string | undefined;
    try {
      const answer = await addFinalizer(client, object, { finalizer, signal });
      ({ resourceVersion } = answer.metadata);
      return answer;
    } finally {
      if (resourceVersion === undefined) this.#written.delete(uid);
      else this.#written.set(uid, resourceVersion);
    }
  }
}

/** Returns the object with `finalizers`, without the other parts that a write of finalizers changes. */
function withFinalizers(
  object: KubernetesObject,
  finalizers: readonly string[] | undefined,
): object {
  const cleared = { resourceVersion: '', managedFields: undefined };
  return { ...object, metadata: { ...object.metadata, ...cleared, finalizers } };
}
