import type { RecordedStep } from '../recorded-server/recording.js';

/**
 * A request. In its path and body, `{{ns}}` stands for the scenario's namespace, and `{{name.metadata.uid}}` for a
 * value in the answer to the earlier request whose `as` is `name`. A string that is only `{{name}}` stands for that
 * whole answer.
 */
export interface Request extends Omit<RecordedStep, 'answer' | 'differs'> {
  /** Name of the answer in later requests. */
  readonly as?: string;
  /**
   * Sends the request again while it gets this status, for up to five seconds: a new kind is served
   * shortly after its creation. A scenario ends at a request that still gets it from both servers.
   */
  readonly whileStatus?: number;
}

/** Requests in order, in a namespace of their own. */
export interface Scenario {
  /** Unique in a run. */
  readonly title: string;
  readonly requests: readonly Request[];
}

type Body = Readonly<Record<string, unknown>>;

/** Content types of patches. */
export const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** Media types that a request can ask for, other than plain JSON. */
export const representations = {
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  partial: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  partialList: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
} as const;

export const get = (path: string, more: Partial<Request> = {}): Request => ({
  ...{ method: 'GET', path },
  ...more,
});

export const post = (path: string, body: unknown, more: Partial<Request> = {}): Request => ({
  ...{ method: 'POST', path, body },
  ...more,
});

export const put = (path: string, body: unknown, more: Partial<Request> = {}): Request => ({
  ...{ method: 'PUT', path, body },
  ...more,
});

export const remove = (path: string, body?: Body, more: Partial<Request> = {}): Request => ({
  ...{ method: 'DELETE', path, body },
  ...more,
});

export const patch = (
  type: keyof typeof patchTypes,
  path: string,
  body: unknown,
  more: Partial<Request> = {},
): Request => ({ ...{ method: 'PATCH', path, body, type: patchTypes[type] }, ...more });

/** Applies `body` as `manager`; `force` takes the fields of other managers. */
export const apply = (manager: string, path: string, body: Body, force = false): Request =>
  patch('apply', `${path}?fieldManager=${manager}${force ? '&force=true' : ''}`, body);

/** Reads the events since the version `from`, until the server ends the watch after a second. */
export const watch = (path: string, from: string, query = ''): Request =>
  get(`${path}?watch=true&timeoutSeconds=1&resourceVersion=${from}${query}`);

/** Returns whether a path is that of a collection, not of one object. */
export function isCollection(path: string): boolean {
  const { pathname } = new URL(path, 'http://localhost');
  const parts = pathname.split('/').filter((part) => part !== '' && part !== 'watch');
  const inside = parts.slice(parts[0] === 'api' ? 2 : 3);
  return inside.length === 1 || (inside[0] === 'namespaces' && inside.length === 3);
}
