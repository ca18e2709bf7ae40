import type { Assignment, StoredAssignment } from '../../../../lib/manager/sharding/assignment.js';
import type {
  MemberLease,
  ShardView,
  WriteOutcome,
} from '../../../../lib/manager/sharding/member-lease.js';
import type { Acknowledgement } from '../../../../lib/manager/sharding/possession.js';

/** Stores the Leases of a group like an API server: each write is a compare-and-swap. */
export class ModelServer {
  readonly #members = new Map<string, MemberLease>();
  #record: StoredAssignment | undefined;
  #version = 0;
  readonly #nowMs: () => number;
  /** Every stored record. */
  readonly records: StoredAssignment[] = [];

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  list(): ShardView {
    return { members: [...this.#members.values()], record: this.#record };
  }

  create(name: string): WriteOutcome<MemberLease> {
    if (this.#members.has(name)) return { type: 'conflict' };
    const resourceVersion = this.#nextVersion();
    // Whole seconds, like creation timestamps.
    const createdMs = Math.floor(this.#nowMs() / 1000) * 1000;
    const known = {
      name,
      uid: `uid-${resourceVersion}`,
      resourceVersion,
      createdMs,
      durationMs: 0,
    };
    return this.#store({ ...known, holder: name, acknowledged: undefined });
  }

  renew(lease: MemberLease, acknowledged: Acknowledgement | undefined): WriteOutcome<MemberLease> {
    return this.#change(lease, { acknowledged });
  }

  giveUp(lease: MemberLease): WriteOutcome<MemberLease> {
    return this.#change(lease, { holder: '' });
  }

  remove(lease: MemberLease): void {
    if (this.#members.get(lease.name)?.resourceVersion === lease.resourceVersion) {
      this.#members.delete(lease.name);
    }
  }

  record(
    assignment: Assignment,
    over: StoredAssignment | undefined,
  ): WriteOutcome<StoredAssignment> {
    if (over?.resourceVersion !== this.#record?.resourceVersion) return { type: 'conflict' };
    const resourceVersion = this.#nextVersion();
    const uid = this.#record?.uid ?? `uid-${resourceVersion}`;
    this.#record = { ...assignment, uid, resourceVersion };
    this.records.push(this.#record);
    return { type: 'stored', object: this.#record };
  }

  /** Deletes the record like an unrelated client. */
  loseRecord(): void {
    this.#record = undefined;
  }

  /** Deletes a Lease like an unrelated client. */
  lose(name: string): void {
    this.#members.delete(name);
  }

  /** Clears the holder of a Lease like an unrelated client. */
  empty(name: string): void {
    const lease = this.#members.get(name);
    if (lease !== undefined) this.giveUp(lease);
  }

  #change(lease: MemberLease, change: Partial<MemberLease>): WriteOutcome<MemberLease> {
    const now = this.#members.get(lease.name);
    if (now === undefined) return { type: 'gone' };
    if (now.resourceVersion !== lease.resourceVersion) return { type: 'conflict' };
    return this.#store({ ...now, ...change, resourceVersion: this.#nextVersion() });
  }

  #store(lease: MemberLease): WriteOutcome<MemberLease> {
    this.#members.set(lease.name, lease);
    return { type: 'stored', object: lease };
  }

  #nextVersion(): string {
    this.#version++;
    return String(this.#version);
  }
}
