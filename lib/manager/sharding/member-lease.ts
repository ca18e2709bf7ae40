import type { Lease } from '../../object/kinds.js';
import { parseTime } from '../../object/micro-time.js';
import { parseAssignment } from './assignment.js';
import type { StoredAssignment } from './assignment.js';
import type { Acknowledgement } from './possession.js';

/** On all Leases of a group: the group's name. */
export const groupLabel = 'operator-builder.io/shards';

/** On the Lease of a member: what it acknowledged, `<uid of the record>/<epoch>`. */
export const acknowledgedAnnotation = 'operator-builder.io/shards-acknowledged';

/** On the Lease with the record: who has which slots; see `formatAssignment`. */
export const assignmentAnnotation = 'operator-builder.io/shards-assignment';

/** The Lease of one member, as it was read. */
export interface MemberLease {
  /** Made up anew each time that a process joins: what was expelled never comes back. */
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Empty: nobody any more; the member resigned or was expelled, for good. */
  readonly holder: string;
  readonly acknowledged: Acknowledgement | undefined;
  /** For how long its member may hold what it has since its last renewal, in milliseconds. */
  readonly durationMs: number;
  /** Milliseconds since 1970 by the server's clock: the oldest member leads. */
  readonly createdMs: number;
}

/** Reads the Lease of a member. */
export function memberLeaseOf({ metadata, spec }: Lease): MemberLease {
  const { name = '', uid = '', resourceVersion = '', creationTimestamp } = metadata;
  return {
    ...{ name, uid, resourceVersion },
    holder: spec?.holderIdentity ?? '',
    acknowledged: acknowledgementIn(metadata.annotations?.[acknowledgedAnnotation]),
    durationMs: (spec?.leaseDurationSeconds ?? 0) * 1_000,
    createdMs: creationTimestamp === undefined ? 0 : parseTime(creationTimestamp),
  };
}

/** What the annotation of {@link acknowledgedAnnotation} says; null: nothing, for a merge patch. */
export function acknowledgementText(acknowledged: Acknowledgement | undefined): string | null {
  if (acknowledged === undefined) return null;
  return `${acknowledged.record}/${acknowledged.epoch}`;
}

function acknowledgementIn(text: string | undefined): Acknowledgement | undefined {
  // What can't be read acknowledges nothing.
  const [, record, epoch] = /^(.+)\/(\d+)$/.exec(text ?? '') ?? [];
  return record === undefined ? undefined : { record, epoch: Number(epoch) };
}

/**
 * Reads the Lease with the record.
 * @throws OperatorError `InvalidObject`: it can't be read.
 */
export function storedAssignmentOf({ metadata }: Lease, slotCount: number): StoredAssignment {
  const { uid = '', resourceVersion = '', annotations } = metadata;
  const text = annotations?.[assignmentAnnotation] ?? '';
  return { ...parseAssignment(text, slotCount), uid, resourceVersion };
}
