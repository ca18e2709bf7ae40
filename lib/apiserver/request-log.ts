import type { RequestInfo, Verb } from './requests/request-info.js';

/** One request that the server answered. */
export interface RequestEntry {
  /** The verb; `get` for a path without a resource. */
  readonly verb: Verb;
  /** The plural, or the path of a request without a resource. */
  readonly resource: string;
  readonly group: string;
  readonly subresource: string | undefined;
  /** The namespace, or empty without one. */
  readonly namespace: string;
  /** The name, or empty for a collection and for an object that has no name yet. */
  readonly name: string;
  readonly user: string;
  /** The HTTP status code of the answer. */
  readonly code: number;
  /** True if the user had no permission, else absent. */
  readonly denied?: true;
  /** True if the query requests a dry run, else absent. A `dryRun` in the body of a delete does not count. */
  readonly dryRun?: true;
}

/** A position in the log; see {@link RequestLog.since}. */
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
 * The requests that a server answered, oldest first, for API budgets in tests. Calls of `Loopback` are not
 * recorded. The log is iterable: `[...requests.since(mark)]`.
 */
export class RequestLog {
  readonly #capacity: number;
  #entries: RequestEntry[] = [];
  #dropped = 0;

  /** @param capacity - the number of requests to keep; the log discards older ones. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The recorded requests. */
  get entries(): readonly RequestEntry[] {
    return this.#entries;
  }

  /** The number of recorded requests. */
  get length(): number {
    return this.#entries.length;
  }

  [Symbol.iterator](): Iterator<RequestEntry> {
    return this.#entries[Symbol.iterator]();
  }

  /** The number of recorded writes. */
  get writes(): number {
    return this.count(({ verb }) => writing.has(verb));
  }

  /** The number of recorded reads; a watch counts once. */
  get reads(): number {
    return this.count(({ verb }) => !writing.has(verb));
  }

  /** Returns the current end of the log. */
  mark(): RequestMark {
    return { count: this.#dropped + this.#entries.length };
  }

  /** Returns the requests after `mark` as a separate log. */
  since({ count }: RequestMark): RequestLog {
    const later = new RequestLog(this.#capacity);
    later.#entries = this.#entries.slice(Math.max(0, count - this.#dropped));
    return later;
  }

  /** Returns the requests for which `matches` returns true, as a separate log. */
  filter(matches: (entry: RequestEntry) => boolean): RequestLog {
    const some = new RequestLog(this.#capacity);
    some.#entries = this.#entries.filter(matches);
    return some;
  }

  /** Returns the number of requests for which `matches` returns true. */
  count(matches: (entry: RequestEntry) => boolean): number {
    return this.#entries.filter(matches).length;
  }

  /** Counts the requests by `verb resource`, for example `patch deployments/status`. */
  byVerbAndResource(): Readonly<Record<string, number>> {
    return this.#countBy(({ verb, resource, subresource }) => {
      return `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
    });
  }

  /** Counts the requests by user. */
  byUser(): Readonly<Record<string, number>> {
    return this.#countBy(({ user }) => user);
  }

  #countBy(keyOf: (entry: RequestEntry) => string): Readonly<Record<string, number>> {
    const counts = new Map<string, number>();
    for (const entry of this.#entries) {
      const key = keyOf(entry);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return Object.fromEntries(counts);
  }

  /** Discards all requests. */
  clear(): void {
    this.#dropped += this.#entries.length;
    this.#entries = [];
  }

  /** Records a request. Called by the server. */
  add(entry: RequestEntry): void {
    this.#entries.push(entry);
    // Discards many old entries at once, so that a full log does not copy its entries on each request.
    if (this.#entries.length < this.#capacity * 2) return;
    const kept = this.#entries.slice(-this.#capacity);
    this.#dropped += this.#entries.length - kept.length;
    this.#entries = kept;
  }
}

export interface RequestOutcome {
  readonly code: number;
  /** True if the user had no permission. @defaultValue false */
  readonly denied?: boolean;
}

export function requestEntry(
  info: RequestInfo,
  user: string,
  { code, denied: isDenied = false }: RequestOutcome,
): RequestEntry {
  const denied = isDenied ? { denied: true as const } : {};
  if (info.type === 'plain') {
    const none = { group: '', subresource: undefined, namespace: '', name: '' };
    return { verb: 'get', resource: info.path, ...none, user, code, ...denied };
  }
  const { verb, resource, group, subresource, namespace, name, query } = info;
  const dryRun =
    query.size > 0 && query.getAll('dryRun').includes('All') ? { dryRun: true as const } : {};
  return { verb, resource, group, subresource, namespace, name, user, code, ...denied, ...dryRun };
}
