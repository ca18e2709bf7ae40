import type { Lease } from '../object/kinds.js';
import { formatMicroTime } from '../object/micro-time.js';

/** The holder's data in a Lease. Its times must not be compared with a local clock: clocks differ. */
export interface LeaseRecord {
  /** `''` if the Lease is free. */
  readonly holder: string;
  /** Lease duration after a renewal, in milliseconds; undefined if absent. */
  readonly durationMs: number | undefined;
  /** Time of the renewal on the holder's clock, unparsed; used only to distinguish records. */
  readonly renewTime: string;
  /** Number of holder changes. */
  readonly transitions: number;
}

/** Values that a holder writes when it takes or renews the Lease. */
export interface LeaseHolding {
  readonly identity: string;
  readonly durationMs: number;
  /** Wall-clock time in milliseconds since 1970; informational. */
  readonly nowMs: number;
}

/** Reads a Lease; a missing or invalid field counts as unset. */
export function leaseRecordOf({ spec }: Lease): LeaseRecord {
  // The types require a spec, but a Lease created by hand may lack it.
  const { holderIdentity, leaseDurationSeconds, leaseTransitions, renewTime } = spec ?? {};
  return {
    holder: holderIdentity ?? '',
    durationMs: isPositive(leaseDurationSeconds) ? leaseDurationSeconds * 1_000 : undefined,
    renewTime: renewTime ?? '',
    transitions: isPositive(leaseTransitions) ? leaseTransitions : 0,
  };
}

/** Returns a new Lease to create. */
export function newLease(key: { namespace: string; name: string }, holding: LeaseHolding): Lease {
  const now = formatMicroTime(holding.nowMs);
  const spec = { ...renewal(holding, now), acquireTime: now, leaseTransitions: 0 };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { ...key }, spec };
}

/** Returns `lease` with a new holder; other fields are unchanged. */
export function takenLease(lease: Lease, holding: LeaseHolding): Lease {
  const now = formatMicroTime(holding.nowMs);
  const leaseTransitions = leaseRecordOf(lease).transitions + 1;
  const spec = { ...lease.spec, ...renewal(holding, now), acquireTime: now, leaseTransitions };
  return { ...lease, spec };
}

/** Returns `lease` with a renewal of its holder. */
export function renewedLease(lease: Lease, holding: LeaseHolding): Lease {
  return { ...lease, spec: { ...lease.spec, ...renewal(holding, formatMicroTime(holding.nowMs)) } };
}

/**
 * Returns `lease` without a holder. Like client-go, it sets a duration of one second, the minimum, so that a
 * reader that ignores the empty holder sees the Lease expire soon.
 */
export function releasedLease(lease: Lease, nowMs: number): Lease {
  const now = formatMicroTime(nowMs);
  const nobody = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
  return { ...lease, spec: { ...lease.spec, ...nobody } };
}

function renewal({ identity, durationMs }: LeaseHolding, renewTime: string) {
  // Rounded up to whole seconds: others must not take the Lease early.
  const leaseDurationSeconds = Math.ceil(durationMs / 1_000);
  return { holderIdentity: identity, leaseDurationSeconds, renewTime };
}

function isPositive(value: number | undefined): value is number {
  return Number.isFinite(value) && Number(value) > 0;
}
