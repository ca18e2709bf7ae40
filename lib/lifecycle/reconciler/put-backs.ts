import { hashObject } from '../../hash/hash-object.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Clock } from '../../system/clock.js';

/** After this it is tried again: a webhook may be gone. In milliseconds. */
const rememberedMs = 3_600_000;

/** More are not remembered; the oldest are forgotten first. */
const maxRemembered = 10_000;

interface PutBack {
  readonly resourceVersion: string | undefined;
  readonly hash: string;
  readonly until: number;
}

/**
 * Updates that the server has put back at once: a `readOnly: false` that it does not store, or what a
 * webhook does not let through. Written again in each pass, they would be put back again.
 */
export class PutBacks {
  readonly #clock: Clock;
  readonly #byUid = new Map<string, PutBack>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that `current` has stayed as it is, where `merged` was to be written. */
  add(current: UnstructuredObject, merged: UnstructuredObject): void {
    const { uid, resourceVersion } = current.metadata;
    if (uid === undefined) return;
    const until = this.#clock.monotonicMs() + rememberedMs;
    this.#byUid.delete(uid);
    this.#byUid.set(uid, { resourceVersion, hash: hashObject(merged), until });
    const [oldest] = this.#byUid.keys();
    if (this.#byUid.size > maxRemembered && oldest !== undefined) this.#byUid.delete(oldest);
  }

  /** Whether to write `merged` would change nothing: it was tried, and `current` is the same since. */
  has(current: UnstructuredObject, merged: UnstructuredObject): boolean {
    const { uid = '', resourceVersion } = current.metadata;
    const known = this.#byUid.get(uid);
    if (known?.resourceVersion !== resourceVersion || known === undefined) return false;
    return this.#clock.monotonicMs() < known.until && known.hash === hashObject(merged);
  }
}
