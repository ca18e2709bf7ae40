import { createReadStream } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiConnection } from './api-connection.js';
import { parseAuditLine } from './audit-entry.js';
import type { AuditEntry } from './audit-entry.js';

/** Position in an audit log. */
export interface AuditMark {
  /** Bytes of the log before this position. */
  readonly offset: number;
  /** Milliseconds since 1970 by the server's clock. */
  readonly atMs: number;
}

/** Selects requests that match all given fields. */
export interface AuditQuery {
  /** Only requests received after this mark. @defaultValue the start */
  readonly since?: AuditMark;
  readonly user?: string;
  /** One of these verbs, for example {@link writeVerbs}. */
  readonly verbs?: readonly string[];
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
}

/** Count of similar requests. */
export interface RequestCount {
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly code: number;
  readonly count: number;
}

/** Line of the log, and the start of the next one. */
interface Line {
  readonly text: string;
  readonly end: number;
}

const markerPath = '/version?audit-mark=';

/** Longest time from the server to the log for a line. */
const settleTimeoutMs = 20_000;

/**
 * Reads the audit log of a running API server: users, requests, responses and times. Every method
 * first waits until the log contains each request that was answered before the call, so that a spec
 * need not sleep. A request counts once, also a watch (which the server logs at both ends).
 */
export class AuditLog {
  readonly #path: string;
  readonly #api: ApiConnection;
  #settled: AuditMark = { offset: 0, atMs: 0 };
  #markers = 0;

  /**
   * @param api - connection of a user who may read `/version`; its own requests appear in the log, too.
   */
  constructor(path: string, api: ApiConnection) {
    this.#path = path;
    this.#api = api;
  }

  /** Waits for the log; returns a mark to read on from. */
  async mark(): Promise<AuditMark> {
    const marker = `${markerPath}${process.pid}-${++this.#markers}`;
    // The offset is read first, because a concurrent call may move it beyond the line of this marker.
    const { offset } = this.#settled;
    await this.#api.send({ path: marker });
    const deadline = Date.now() + settleTimeoutMs;
    // The server logs in the order of its responses: requests before the marker are in the log.
    while (Date.now() < deadline) {
      for await (const line of linesFrom(this.#path, offset)) {
        if (!line.text.includes(marker)) continue;
        const { receivedAtMs } = parseAuditLine(line.text);
        const mark = { offset: line.end, atMs: receivedAtMs };
        if (mark.offset > this.#settled.offset) this.#settled = mark;
        return mark;
      }
      await delay(10);
    }
    throw new Error(`no line for ${marker} in the audit log within ${settleTimeoutMs} ms`);
  }

  /** Returns the matching requests, in the order of their responses. */
  async read(query: AuditQuery = {}): Promise<readonly AuditEntry[]> {
    const until = await this.mark();
    const since = query.since ?? { offset: 0, atMs: 0 };
    const entries = new Map<string, AuditEntry>();
    for await (const { text, end } of linesFrom(this.#path, since.offset)) {
      if (end > until.offset) break;
      const entry = parseAuditLine(text);
      // The time is compared, too, because a watch that began before the mark may end after it.
      if (entry.receivedAtMs < since.atMs || !fits(entry, query)) continue;
      entries.set(entry.auditId, entry);
    }
    return [...entries.values()];
  }

  /** Returns the number of matching requests. */
  async count(query: AuditQuery = {}): Promise<number> {
    return (await this.read(query)).length;
  }

  /**
   * Returns counts of the matching requests by user, verb, resource and response; the most frequent
   * first.
   */
  async tally(query: AuditQuery = {}): Promise<readonly RequestCount[]> {
    const counts = new Map<string, RequestCount>();
    for (const entry of await this.read(query)) {
      const { user, verb, group, resource, subresource, code } = entry;
      const key = JSON.stringify([user, verb, group, resource, subresource, code]);
      const count = (counts.get(key)?.count ?? 0) + 1;
      counts.set(key, { user, verb, group, resource, subresource, code, count });
    }
    return [...counts.values()].sort((a, b) => b.count - a.count);
  }
}

function fits(entry: AuditEntry, query: AuditQuery): boolean {
  if (entry.uri.startsWith(markerPath)) return false;
  const { user, verbs, resource, subresource, namespace } = query;
  if (verbs !== undefined && !verbs.includes(entry.verb)) return false;
  const wanted = { user, resource, subresource, namespace };
  return Object.entries(wanted).every(
    ([field, value]) => value === undefined || entry[field as keyof typeof wanted] === value,
  );
}

/** Returns the complete lines of a file from a byte offset. */
async function* linesFrom(path: string, start: number): AsyncGenerator<Line> {
  let rest: Buffer = Buffer.alloc(0);
  let position = start;
  for await (const chunk of createReadStream(path, { start })) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    for (let newline = rest.indexOf(10); newline >= 0; newline = rest.indexOf(10)) {
      position += newline + 1;
      yield { text: rest.toString('utf8', 0, newline), end: position };
      rest = rest.subarray(newline + 1);
    }
  }
}
