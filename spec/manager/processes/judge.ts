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
 * renewal later than it was begun, by as much.
 */
const wayMs = 300;

/** Judges a round of `lease` by the server's log. */
export function judge(
  log: readonly LoggedRequest[],
  lease: string,
  { former, sinceMs }: { readonly former: string; readonly sinceMs: number },
): Verdict {
  const violations: string[] = [];
  const renewedMs = new Map<string, number>();
  let holder = { user: '', sinceMs: 0 };
  let writes = 0;
  let gapMs = Infinity;
  const own = log.filter(({ name, resource }) => name === lease || resource === 'leases');
  for (const request of own.toSorted((a, b) => a.receivedAtMs - b.receivedAtMs)) {
    const { user, verb, resource, code, receivedAtMs } = request;
    if (verb === 'get') continue;
    if (resource === 'leases') {
      if (code < 200 || code >= 300) continue;
      if (holder.user !== user) holder = { user, sinceMs: receivedAtMs };
      renewedMs.set(user, receivedAtMs);
      continue;
    }
    writes += 1;
    const lateMs = receivedAtMs - (renewedMs.get(user) ?? -Infinity) - renewDeadlineMs;
    if (holder.user !== user && receivedAtMs - holder.sinceMs > wayMs) {
      violations.push(`${user} wrote while ${holder.user} held the Lease`);
    }
    if (lateMs > wayMs) violations.push(`${user} wrote ${lateMs} ms too late`);
    if (user !== former && receivedAtMs > sinceMs) gapMs = Math.min(gapMs, receivedAtMs - sinceMs);
  }
  return { violations, writes, gapMs };
}
