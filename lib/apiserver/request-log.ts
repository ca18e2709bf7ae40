import type { Verb } from './requests/request-info.js';

/** One request that the server answered. */
export interface RequestEntry {
  /** `get` for paths that name no resource. */
  readonly verb: Verb;
  /** The plural, or the path of a request for no resource. */
  readonly resource: string;
  readonly group: string;
  readonly subresource: string | undefined;
  /** Empty: none. */
  readonly namespace: string;
  /** Empty: a collection, or an object without a name yet. */
  readonly name: string;
  readonly user: string;
  /** The HTTP status code of the answer. */
  readonly code: number;
  /** The user had no right to it. Absent: it had. */
  readonly denied?: true;
  /** It was said to be a dry run by its query; a delete may say it in its body, too. Absent: it was not. */
  readonly dryRun?: true;
}

/** A place in the log; see {@link RequestLog.since}. */
export interface RequestMark {
  readonly count: number;
}

const writing: ReadonlySet<Verb> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
]);

/**
 * The requests that a server answered, oldest first, for API budgets in tests; the loopback's own calls
 * are not in it. It can be iterated: `[...requests.since(mark)]`.
 */
export class RequestLog {
  readonly #capacity: number;
  #entries: RequestEntry[] = [];
  #dropped = 0;

  /** @param capacity - how many requests are kept; older ones are forgotten. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The requests that are kept. */
  get entries(): readonly RequestEntry[] {
    return this.#entries;
  }

  /** How many requests are kept. */
  get length(): number {
    return this.#entries.length;
  }

  [Symbol.iterator](): Iterator<RequestEntry> {
    return this.#entries[Symbol.iterator]();
  }

  /** How many of them were writes. */
  get writes(): number {
    return this.count(({ verb }) => writing.has(verb));
  }

  /** How many of them were reads (watches count once). */
  get reads(): number {
    return this.count(({ verb }) => !writing.has(verb));
  }

  /** The present end of the log. */
  mark(): RequestMark {
    return { count: this.#dropped + this.#entries.length };
  }

  /** The requests after `mark`, as a log of their own. */
  since({ count }: RequestMark): RequestLog {
    const later = new RequestLog(this.#capacity);
    later.#entries = this.#entries.slice(Math.max(0, count - this.#dropped));
    return later;
  }

  /** How many requests `matches` holds for. */
  count(matches: (entry: RequestEntry) => boolean): number {
    return this.#entries.filter(matches).length;
  }

  /** How many requests there were by `verb resource`, for example `patch deployments/status`. */
  byVerbAndResource(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { verb, resource, subresource } of this.#entries) {
      const key = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }

  /** Forgets all. */
  clear(): void {
    this.#dropped += this.#entries.length;
    this.#entries = [];
  }

  /** Called by the server. */
  add(entry: RequestEntry): void {
    this.#entries.push(entry);
    // Cut in bulk, so that a full log costs nothing for each request.
    if (this.#entries.length < this.#capacity * 2) return;
    const kept = this.#entries.slice(-this.#capacity);
    this.#dropped += this.#entries.length - kept.length;
    this.#entries = kept;
  }
}
