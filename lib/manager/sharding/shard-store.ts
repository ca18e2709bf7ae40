import type { ListOptions } from '../../client/index.js';
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  Lease,
  formatMicroTime,
} from '../../object/index.js';
import { inTime, withLeaseRule } from '../lease.js';
import { formatAssignment, slotCount } from './assignment.js';
import type { Assignment, StoredAssignment } from './assignment.js';
import {
  acknowledgedAnnotation,
  acknowledgementText,
  assignmentAnnotation,
  groupLabel,
  memberLeaseOf,
  storedAssignmentOf,
} from './member-lease.js';
import type { MemberLease, ShardView, WriteOutcome } from './member-lease.js';
import type { Acknowledgement } from './possession.js';
import type { ResolvedShardingOptions } from './sharding-options.js';

/** Fields to set on exactly the version that was read. */
interface LeaseChange {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The Leases of a group on the server. Every change is a compare-and-swap of one version. */
export class ShardStore {
  readonly #options: ResolvedShardingOptions;
  readonly #signal: AbortSignal;
  #record: StoredAssignment | undefined;
  #unreadable = '';
  #problem: unknown;

  /** @param signal - aborts every request */
  constructor(options: ResolvedShardingOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Error of the last write, for readiness checks; undefined if it succeeded, or another write came first. */
  get problem(): unknown {
    return this.#problem;
  }

  /** Name of the Lease that stores the assignment of shards to members: the record. */
  get recordName(): string {
    return `${this.#options.name}-shards`;
  }

  /** Lists all Leases of the group. If the list lacks the Lease with the record, a second request reads that Lease. */
  async list(): Promise<ShardView> {
    const items = await this.#list({ labelSelector: `${groupLabel}=${this.#options.name}` });
    const isRecord = ({ metadata }: Lease): boolean => metadata.name === this.recordName;
    // A record that has lost its label is not in this list, but still has the name: read it by name.
    const record =
      items.find(isRecord) ??
      (await this.#list({ fieldSelector: `metadata.name=${this.recordName}` }))[0];
    return {
      members: items.filter((lease) => !isRecord(lease)).map(memberLeaseOf),
      record: record === undefined ? undefined : this.#read(record),
    };
  }

  async #list(selector: Pick<ListOptions, 'labelSelector' | 'fieldSelector'>) {
    const { client, namespace } = this.#options;
    const { items } = await this.#within('list', (signal) =>
      client.list(Lease, { namespace, ...selector, signal }),
    );
    return items;
  }

  /** Creates the Lease of a member. */
  join(name: string): Promise<WriteOutcome<MemberLease>> {
    const { identity } = this.#options;
    const now = this.#now();
    const spec = { holderIdentity: identity, acquireTime: now, ...this.#renewal(now) };
    return this.#create({ name, spec }, memberLeaseOf);
  }

  /** Renews the Lease of this process. */
  renew(
    { name, uid, resourceVersion }: MemberLease,
    acknowledged: Acknowledgement | undefined,
  ): Promise<WriteOutcome<MemberLease>> {
    const annotations = { [acknowledgedAnnotation]: acknowledgementText(acknowledged) };
    const spec = this.#renewal(this.#now());
    return this.#change({ name, uid, resourceVersion }, { annotations, spec }, memberLeaseOf);
  }

  /** Removes the holder of a Lease; this is final. */
  giveUp({ name, uid, resourceVersion }: MemberLease): Promise<WriteOutcome<MemberLease>> {
    const change = { spec: { holderIdentity: '' } };
    return this.#change({ name, uid, resourceVersion }, change, memberLeaseOf);
  }

  /** Stores the next epoch. */
  record(
    assignment: Assignment,
    over: StoredAssignment | undefined,
  ): Promise<WriteOutcome<StoredAssignment>> {
    const annotations = { [assignmentAnnotation]: formatAssignment(assignment) };
    const spec = { holderIdentity: this.#options.identity, renewTime: this.#now() };
    const name = this.recordName;
    const read = (lease: Lease): StoredAssignment => storedAssignmentOf(lease, slotCount);
    if (over === undefined) return this.#create({ name, annotations, spec }, read);
    const { uid, resourceVersion } = over;
    const labels = { [groupLabel]: this.#options.name };
    return this.#change({ name, uid, resourceVersion }, { labels, annotations, spec }, read);
  }

  /** Deletes a Lease without a holder. If the delete fails, the next list of Leases returns the Lease again. */
  async remove({ name, uid, resourceVersion }: MemberLease): Promise<void> {
    const { client, namespace, logger } = this.#options;
    const preconditions = { uid, resourceVersion };
    try {
      await this.#within('delete', (signal) =>
        client.delete(Lease, { namespace, name }, { preconditions, signal }),
      );
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) {
        logger.warn(`Lease ${name} of a former replica: not deleted`, { error });
      }
    }
  }

  async #create<T>(
    lease: {
      readonly name: string;
      readonly annotations?: Readonly<Record<string, string>>;
      readonly spec: NonNullable<Lease['spec']>;
    },
    read: (lease: Lease) => T,
  ): Promise<WriteOutcome<T>> {
    const { client, name: group, namespace } = this.#options;
    const { name, spec, annotations = {} } = lease;
    const metadata = { name, namespace, labels: { [groupLabel]: group }, annotations };
    const object: Lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      ...{ metadata, spec },
    };
    const created = async (): Promise<T> =>
      read(await this.#within('create', (signal) => client.create(object, { signal })));
    // A new Lease can't be gone: a 404 means that the namespace does not exist.
    return this.#outcome(created, () => false);
  }

  async #change<T>(
    version: { name: string; uid: string; resourceVersion: string },
    { spec, ...metadata }: LeaseChange,
    read: (lease: Lease) => T,
  ): Promise<WriteOutcome<T>> {
    const { client, namespace } = this.#options;
    const { name, uid, resourceVersion } = version;
    const body = { metadata: { uid, resourceVersion, ...metadata }, spec };
    const patch = { type: 'merge', body } as const;
    const patched = async (): Promise<T> =>
      read(
        await this.#within('patch', (signal) =>
          client.patch(Lease, { namespace, name }, patch, { signal }),
        ),
      );
    return this.#outcome(patched, isNotFound);
  }

  async #outcome<T>(
    write: () => Promise<T>,
    isGone: (error: unknown) => boolean,
  ): Promise<WriteOutcome<T>> {
    this.#problem = undefined;
    try {
      return { type: 'stored', object: await write() };
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) return { type: 'conflict' };
      if (isGone(error)) return { type: 'gone' };
      this.#problem = error;
      if (!this.#signal.aborted) this.#options.logger.warn('a Lease was not written', { error });
      return { type: 'failed' };
    }
  }

  async #within<T>(verb: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, retryPeriodMs, renewDeadlineMs, namespace } = this.#options;
    const timeoutMs = Math.max(retryPeriodMs, renewDeadlineMs / 2);
    const what = `${verb} Lease in ${namespace}`;
    try {
      return await inTime({ what, clock, timeoutMs, signal: this.#signal }, call);
    } catch (error) {
      throw withLeaseRule(error, what, { namespace, verbs: 'list, create, patch, delete' });
    }
  }

  /** Reads the record; an unreadable one is ignored until a user deletes it. */
  #read(lease: Lease): StoredAssignment | undefined {
    const { resourceVersion = '' } = lease.metadata;
    try {
      this.#record = storedAssignmentOf(lease, slotCount);
    } catch (error) {
      if (this.#unreadable !== resourceVersion) {
        const { logger, namespace } = this.#options;
        const what = `Lease ${namespace}/${this.recordName} can't be read, so no key moves`;
        const remedy = 'give shards another name if another program uses it';
        logger.error(`${what}: delete it, it is created again; or ${remedy}`, { error });
      }
      this.#unreadable = resourceVersion;
      // Use the record that was read before. A write based on it can't overwrite the unreadable record, which has
      // another resource version.
    }
    return this.#record;
  }

  #renewal(renewTime: string): { leaseDurationSeconds: number; renewTime: string } {
    const { leaseDurationMs } = this.#options;
    return { leaseDurationSeconds: Math.ceil(leaseDurationMs / 1_000), renewTime };
  }

  #now(): string {
    return formatMicroTime(this.#options.clock.now());
  }
}
