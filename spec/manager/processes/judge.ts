/** A request as the server logged it, by its own clock. */
export interface LoggedRequest {
  readonly user: string;
  readonly verb: string;
  readonly resource: string;
  readonly name: string;
  readonly code: number;
  readonly receivedAtMs: number;
}

/** What a round came to. */
export interface Verdict {
  /** Writes of who should not have written any more. */
  readonly violations: readonly string[];
  /** Writes that the server got, of whomever. */
  readonly writes: number;
  /** From `sinceMs` to the first write of another than `former`; Infinity: there was none. */
  readonly gapMs: number;
}

const renewDeadlineMs = 2_000;

/**
 * How long a write may be on its way: from the look at the fence, through a proxy of this process, to
 * the server's handler, on a machine that has other things to do as well. The server takes note of a
 * renewal later than it was begun, by as much. Who does not heed its fence is later by seconds.
 */
const wayMs = 500;

/** A Lease that nobody gave back is nobody else's for so long since its last renewal. */
const leaseDurationMs = 3_000;

/** By so much the server's clock may be wrong about a time. */
const clockMs = 50;

/** What happened in a round, as the processes tell. */
export interface RoundFacts {
  /** Who led first. */
  readonly former: string;
  /** When something befell it. */
  readonly sinceMs: number;
  /** Its writes between whose last look at the fence and the system call the process was stopped. */
  readonly overtaken: number;
  /** The former leader gives the Lease back, which nobody has to wait for then. */
  readonly givesBack: boolean;
}

/** Judges a round of `lease` by the server's log. */
export function judge(log: readonly LoggedRequest[], lease: string, facts: RoundFacts): Verdict {
  const { former, sinceMs, givesBack } = facts;
  const violations: string[] = [];
  const renewedMs = new Map<string, number>();
  let { overtaken } = facts;
  let holder = { user: '', sinceMs: 0 };
  let writes = 0;
  let gapMs = Infinity;
  const own = log.filter(({ name, resource }) => name === lease || resource === 'leases');
  for (const request of own.toSorted((a, b) => a.receivedAtMs - b.receivedAtMs)) {
    const { user, verb, resource, code, receivedAtMs } = request;
    if (verb === 'get') continue;
    if (resource === 'leases') {
      if (code < 200 || code >= 300) continue;
      if (holder.user !== user) {
        const waitedMs = receivedAtMs - (renewedMs.get(holder.user) ?? -Infinity);
        const isEarly = waitedMs < leaseDurationMs - clockMs && !givesBack;
        if (isEarly) violations.push(`${user} took the Lease ${waitedMs} ms after ${holder.user}`);
        holder = { user, sinceMs: receivedAtMs };
      }
      renewedMs.set(user, receivedAtMs);
      continue;
    }
    writes += 1;
    if (user !== former && receivedAtMs > sinceMs) gapMs = Math.min(gapMs, receivedAtMs - sinceMs);
    const lateMs = receivedAtMs - (renewedMs.get(user) ?? -Infinity) - renewDeadlineMs;
    const isUsurped = holder.user !== user && receivedAtMs - holder.sinceMs > wayMs;
    // Until all is up, the machine is so busy that nobody can tell what is late.
    if (receivedAtMs < sinceMs || (lateMs <= wayMs && !isUsurped)) continue;
    if (user === former && overtaken-- > 0) continue;
    violations.push(`${user} wrote ${lateMs} ms too late, when ${holder.user} held the Lease`);
  }
  return { violations, writes, gapMs };
}
