import type { Lease } from '../../object/kinds.js';
import { parseTime } from '../../object/micro-time.js';
import { parseAssignment } from './assignment.js';
import type { StoredAssignment } from './assignment.js';
import type { Acknowledgement } from './possession.js';

/** Label of all Leases of a group; its value is the group's name. */
export const groupLabel = 'operator-builder.io/shards';

/** Annotation of a member's Lease: its acknowledgement, `<uid of the record>/<epoch>`. */
export const acknowledgedAnnotation = 'operator-builder.io/shards-acknowledged';

/** Annotation of the Lease with the record: the assignment; see `formatAssignment`. */
export const assignmentAnnotation = 'operator-builder.io/shards-assignment';

/** The Lease of one member, as last read. */
export interface MemberLease {
  /** Generated for each join: an expelled member never returns under the same name. */
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Empty after the member has resigned or was expelled; this is final. */
  readonly holder: string;
  readonly acknowledged: Acknowledgement | undefined;
  /** Time that its member may hold its slots after its last renewal, in milliseconds. */
  readonly durationMs: number;
  /** Milliseconds since 1970 on the server's clock; the oldest member leads. */
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

/** Returns the value of {@link acknowledgedAnnotation}; null removes it with a merge patch. */
export function acknowledgementText(acknowledged: Acknowledgement | undefined): string | null {
  if (acknowledged === undefined) return null;
  return `${acknowledged.record}/${acknowledged.epoch}`;
}

function acknowledgementIn(text: string | undefined): Acknowledgement | undefined {
  // An unreadable value counts as no acknowledgement.
  const [, record, epoch] = /^(.+)\/(\d+)$/.exec(text ?? '') ?? [];
  return record === undefined ? undefined : { record, epoch: Number(epoch) };
}

/**
 * Reads the Lease with the record.
 * @throws OperatorError `InvalidObject`: the record can't be read.
 */
export function storedAssignmentOf({ metadata }: Lease, slotCount: number): StoredAssignment {
  const { uid = '', resourceVersion = '', annotations } = metadata;
  const text = annotations?.[assignmentAnnotation] ?? '';
  return { ...parseAssignment(text, slotCount), uid, resourceVersion };
}
