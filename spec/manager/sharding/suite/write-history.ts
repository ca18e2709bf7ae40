import type { Client } from '../../../../lib/client/index.js';
import type { StoredAssignment } from '../../../../lib/manager/sharding/assignment.js';
import { storedAssignmentOf } from '../../../../lib/manager/sharding/member-lease.js';
import { hashOfKey, slotCount, slotOf } from '../../../../lib/manager/sharding/assignment.js';
import { ConfigMap, Lease } from '../../../../lib/object/kinds.js';

/** A write of a key, as the server stored it. */
export interface KeyWrite {
  readonly key: string;
  /** The process that wrote. */
  readonly writer: string;
  /** The resource version, which orders all writes of all kinds. */
  readonly version: number;
}

/**
 * All writes in the order in which the server stored them: a watch delivers every version of an
 * object, and the resource versions of all kinds have a common order.
 */
export class WriteHistory {
  readonly writes: KeyWrite[] = [];
  /** The process that holds or held each Lease, in the order of creation. */
  readonly identities = new Map<string, string>();
  readonly #last = new Map<string, string>();
  readonly #records: StoredAssignment[] = [];
  readonly #ending = new AbortController();
  readonly #namespace: string;
  readonly #watches: Promise<void>[];
  #failure: unknown;

  constructor(client: Client, namespace: string) {
    this.#namespace = namespace;
    const follow = async (watch: Promise<void>): Promise<void> => {
      await watch.catch((error: unknown) => {
        if (!this.#ending.signal.aborted) this.#failure = error;
      });
    };
    this.#watches = [follow(this.#watchWrites(client)), follow(this.#watchLeases(client))];
  }

  /** Returns the last writer of each key. */
  lastWriters(): ReadonlyMap<string, string> {
    if (this.#failure !== undefined) throw this.#failure as Error;
    return this.#last;
  }

  /** Returns the number of slots of each process by the newest record. */
  holders(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const holder of this.#records.at(-1)?.holders ?? []) {
      const name = this.identities.get(holder ?? '') ?? 'nobody';
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }

  /**
   * Returns the writes of a replica other than the current owner, after the first write of that
   * owner.
   * A write that the former owner sent in time may arrive before that, as docs/sharding.md says.
   */
  strangers(): readonly string[] {
    const lastOwn = new Map<string, string>();
    return this.writes.flatMap(({ key, writer, version }) => {
      const record = this.#records.findLast(
        ({ resourceVersion }) => Number(resourceVersion) < version,
      );
      const slot = slotOf(hashOfKey({ namespace: this.#namespace, name: key }, 'key'));
      const holder = this.identities.get(record?.holders[slot] ?? '');
      if (holder === writer) {
        lastOwn.set(key, writer);
        return [];
      }
      if (lastOwn.get(key) !== holder) return [];
      return [`${key} at ${version}: written by ${writer}, in epoch ${record?.epoch} of ${holder}`];
    });
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#watches);
  }

  async #watchWrites(client: Client): Promise<void> {
    const { signal } = this.#ending;
    const namespace = `${this.#namespace}-written`;
    for await (const event of client.watch(ConfigMap, { namespace, signal })) {
      if (event.type === 'BOOKMARK' || event.object.data?.['writer'] === undefined) continue;
      const { name: key = '', resourceVersion } = event.object.metadata;
      const { writer } = event.object.data;
      this.#last.set(key, writer);
      this.writes.push({ key, writer, version: Number(resourceVersion) });
    }
  }

  async #watchLeases(client: Client): Promise<void> {
    const { signal } = this.#ending;
    for await (const event of client.watch(Lease, { namespace: this.#namespace, signal })) {
      if (event.type === 'BOOKMARK') continue;
      const { name = '' } = event.object.metadata;
      const holder = event.object.spec?.holderIdentity ?? '';
      if (name === 'replicas-shards') {
        this.#records.push(storedAssignmentOf(event.object, slotCount));
      } else if (holder !== '') this.identities.set(name, holder);
    }
  }
}
