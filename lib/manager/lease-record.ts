import type { Lease } from '../object/kinds.js';
import { formatMicroTime } from '../object/micro-time.js';

/** What a Lease says about its holder. Nothing in it is a time to reckon with: clocks differ. */
export interface LeaseRecord {
  /** `''`: nobody. */
  readonly holder: string;
  /** How long the holder's last sign of life counts, in milliseconds; undefined: it does not say. */
  readonly durationMs: number | undefined;
  /** When it was renewed, by the holder's clock, as it is written: good for telling records apart. */
  readonly renewTime: string;
  /** How often the holder changed. */
  readonly transitions: number;
}

/** What is written of a new holder, or of a holder again. */
export interface LeaseHolding {
  readonly identity: string;
  readonly durationMs: number;
  /** The wall clock, in milliseconds since 1970: for people. */
  readonly nowMs: number;
}

/** Reads a Lease; whatever is missing or no value of its field is as if nobody had written it. */
export function leaseRecordOf({ spec }: Lease): LeaseRecord {
  // The types promise a spec; a Lease that somebody made by hand may have none.
  const { holderIdentity, leaseDurationSeconds, leaseTransitions, renewTime } = spec ?? {};
  return {
    holder: holderIdentity ?? '',
    durationMs: isPositive(leaseDurationSeconds) ? leaseDurationSeconds * 1_000 : undefined,
    renewTime: renewTime ?? '',
    transitions: isPositive(leaseTransitions) ? leaseTransitions : 0,
  };
}

/** A Lease that does not exist yet. */
export function newLease(key: { namespace: string; name: string }, holding: LeaseHolding): Lease {
  const now = formatMicroTime(holding.nowMs);
  const spec = { ...renewal(holding, now), acquireTime: now, leaseTransitions: 0 };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { ...key }, spec };
}

/** `lease`, taken from its former holder. All fields that are not about the holder stay. */
export function takenLease(lease: Lease, holding: LeaseHolding): Lease {
  const now = formatMicroTime(holding.nowMs);
  const leaseTransitions = leaseRecordOf(lease).transitions + 1;
  const spec = { ...lease.spec, ...renewal(holding, now), acquireTime: now, leaseTransitions };
  return { ...lease, spec };
}

/** `lease`, held on. */
export function renewedLease(lease: Lease, holding: LeaseHolding): Lease {
  return { ...lease, spec: { ...lease.spec, ...renewal(holding, formatMicroTime(holding.nowMs)) } };
}

/**
 * `lease`, given back: nobody holds it, and were a holder read into it, it would be over in a second,
 * which is the shortest duration that a Lease can have. As client-go does.
 */
export function releasedLease(lease: Lease, nowMs: number): Lease {
  const now = formatMicroTime(nowMs);
  const nobody = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
  return { ...lease, spec: { ...lease.spec, ...nobody } };
}

function renewal({ identity, durationMs }: LeaseHolding, renewTime: string) {
  // Whole seconds: rounded up, for others must not take it too early.
  const leaseDurationSeconds = Math.ceil(durationMs / 1_000);
  return { holderIdentity: identity, leaseDurationSeconds, renewTime };
}

function isPositive(value: number | undefined): value is number {
  return Number.isFinite(value) && Number(value) > 0;
}
