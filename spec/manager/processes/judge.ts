/** A request in the server's log, with the server's timestamp. */
export interface LoggedRequest {
  readonly user: string;
  readonly verb: string;
  readonly resource: string;
  readonly name: string;
  readonly code: number;
  readonly receivedAtMs: number;
}

/** The verdict on a round. */
export interface Verdict {
  /** Writes of a process that had to be fenced. */
  readonly violations: readonly string[];
  /** The number of writes that the server received from any process. */
  readonly writes: number;
  /** The time from `sinceMs` to the first write of another process than `former`, or Infinity. */
  readonly gapMs: number;
}

const renewDeadlineMs = 2_000;

/**
 * The longest time of a write on a busy machine: from the check of the fence, through a proxy of this process, to the
 * server's handler. The server records a renewal up to this much later than the process began it. The writes of a
 * process that ignores its fence are later by seconds.
 */
const wayMs = 500;

/** How long after its last renewal a Lease can't be taken by another process, unless it is released. */
const leaseDurationMs = 3_000;

/** The possible error of the server's clock. */
const clockMs = 50;

/** The events of a round, as the processes report them. */
export interface RoundFacts {
  /** The first leader. */
  readonly former: string;
  /** The time at which the fault struck it. */
  readonly sinceMs: number;
  /**
   * The number of its writes for which the process was stopped between the check of the fence and
   * the system call.
   */
  readonly overtaken: number;
  /** The former leader releases the Lease, so that no candidate has to wait for it. */
  readonly givesBack: boolean;
}

/** Returns the verdict on a round of `lease` by the server's log. */
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
    // Ignores the start of the processes, during which the machine is too busy for a verdict on times.
    if (receivedAtMs < sinceMs || (lateMs <= wayMs && !isUsurped)) continue;
    if (user === former && overtaken-- > 0) continue;
    violations.push(`${user} wrote ${lateMs} ms too late, when ${holder.user} held the Lease`);
  }
  return { violations, writes, gapMs };
}
