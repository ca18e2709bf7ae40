import type { RequestEntry, RequestLog } from '../apiserver/request-log.js';

/** Which requests of a log are meant; what is left out matches everything. */
export interface RequestFilter {
  /** `patch` for an apply, too: so the API server calls it. */
  readonly verb?: RequestEntry['verb'] | undefined;
  /** The plural, for example `configmaps`. */
  readonly resource?: string | undefined;
  /** Empty: none. */
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly user?: string | undefined;
}

/** What requests can be counted in. */
export type RequestSource =
  RequestLog | readonly RequestEntry[] | { readonly requests: RequestLog };

const reading: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Whether a request was a write. */
export function isWrite({ verb }: RequestEntry): boolean {
  return !reading.has(verb);
}

/** The requests in `source`; undefined: it is no such thing. */
export function requestsOf(source: unknown): readonly RequestEntry[] | undefined {
  if (Array.isArray(source)) return source as readonly RequestEntry[];
  if (typeof source !== 'object' || source === null) return undefined;
  if ('entries' in source && Array.isArray(source.entries)) {
    return source.entries as readonly RequestEntry[];
  }
  return 'requests' in source ? requestsOf(source.requests) : undefined;
}

/** Whether `entry` is one that `filter` means. */
export function matchesFilter(entry: RequestEntry, filter: RequestFilter): boolean {
  const { verb, resource, subresource = '', namespace, name, user } = entry;
  const asked: Required<RequestFilter> = { verb, resource, subresource, namespace, name, user };
  const fields = Object.keys(asked) as (keyof RequestFilter)[];
  return fields.every((field) => filter[field] === undefined || filter[field] === asked[field]);
}

/** `patch deployments/status shop/web by operator → 200`. */
export function describeEntry(entry: RequestEntry): string {
  const { verb, resource, subresource, namespace, name, user, code } = entry;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const key = [namespace, name].filter((part) => part !== '').join('/');
  return `${verb} ${what} ${key} by ${user} → ${code}`;
}

/** `{ verb: create, resource: configmaps }`, for messages; empty for all. */
export function describeFilter(filter: RequestFilter): string {
  const parts = Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => `${field}: ${String(value)}`);
  return parts.length === 0 ? '' : ` { ${parts.join(', ')} }`;
}
