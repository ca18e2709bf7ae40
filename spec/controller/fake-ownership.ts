import type { Fence } from '../../lib/client/client.js';
import type {
  KeyOwnership,
  KeyOwnershipListener,
  ReconcileKey,
} from '../../lib/controller/keys.js';
import { keyString } from '../../lib/object/object-key.js';
import { OperatorError } from '../../lib/system/operator-error.js';

/** Ownership of keys (by {@link keyString}) that the spec grants and revokes. */
export class FakeOwnership implements KeyOwnership {
  readonly #owned = new Set<string>();
  readonly #listeners = new Set<KeyOwnershipListener>();
  /** The operations that each fence checked. */
  readonly asked: string[] = [];

  constructor(...keys: readonly string[]) {
    for (const key of keys) this.#owned.add(key);
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  owns(key: ReconcileKey): boolean {
    return this.#owned.has(textOf(key));
  }

  fenceOf(key: ReconcileKey): Fence {
    return {
      check: (what) => {
        this.asked.push(`${textOf(key)}: ${what}`);
        if (!this.owns(key)) throw new OperatorError('Fenced', `${what}: not ours`);
      },
    };
  }

  subscribe(listener: KeyOwnershipListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  acquire(...keys: readonly string[]): void {
    for (const key of keys) this.#owned.add(key);
    for (const listener of this.#listeners) listener.acquired();
  }

  /** Revokes keys without notifying the listeners. */
  lose(...keys: readonly string[]): void {
    for (const key of keys) this.#owned.delete(key);
  }

  async release(graceMs: number, ...keys: readonly string[]): Promise<void> {
    this.lose(...keys);
    await Promise.all([...this.#listeners].map((listener) => listener.released(graceMs)));
  }
}

function textOf(key: ReconcileKey): string {
  const { cluster = '' } = key;
  return cluster === '' ? keyString(key) : `${cluster}:${keyString(key)}`;
}
