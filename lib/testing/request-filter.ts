import type { RequestEntry, RequestLog } from '../apiserver/request-log.js';

/** Selects requests of a log; fields that are left out match everything. */
export interface RequestFilter {
  /** The verb in the API server's terms: an apply is a `patch`. */
  readonly verb?: RequestEntry['verb'] | undefined;
  /** The plural, for example `configmaps`. */
  readonly resource?: string | undefined;
  /** The subresource; an empty string matches requests without one. */
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly user?: string | undefined;
}

/** Sources of requests to count. */
export type RequestSource =
  RequestLog | readonly RequestEntry[] | { readonly requests: RequestLog };

const reading: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Returns true if the request was a write. */
export function isWrite({ verb }: RequestEntry): boolean {
  return !reading.has(verb);
}

/** Returns the requests of `source`; undefined if it is not a source of requests. */
export function requestsOf(source: unknown): readonly RequestEntry[] | undefined {
  if (Array.isArray(source)) return source as readonly RequestEntry[];
  if (typeof source !== 'object' || source === null) return undefined;
  if ('entries' in source && Array.isArray(source.entries)) {
    return source.entries as readonly RequestEntry[];
  }
  return 'requests' in source ? requestsOf(source.requests) : undefined;
}

/** Returns true if `entry` matches `filter`. */
export function matchesFilter(entry: RequestEntry, filter: RequestFilter): boolean {
  const { verb, resource, subresource = '', namespace, name, user } = entry;
  const asked: Required<RequestFilter> = { verb, resource, subresource, namespace, name, user };
  const fields = Object.keys(asked) as (keyof RequestFilter)[];
  return fields.every((field) => filter[field] === undefined || filter[field] === asked[field]);
}

/** Describes a request: `patch deployments/status shop/web by operator → 200`. */
export function describeEntry(entry: RequestEntry): string {
  const { verb, resource, subresource, namespace, name, user, code } = entry;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const key = [namespace, name].filter((part) => part !== '').join('/');
  return `${verb} ${what} ${key} by ${user} → ${code}`;
}

/** Describes a filter in messages: `{ verb: create, resource: configmaps }`; empty if it matches all. */
export function describeFilter(filter: RequestFilter): string {
  const parts = Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => `${field}: ${String(value)}`);
  return parts.length === 0 ? '' : ` { ${parts.join(', ')} }`;
}
