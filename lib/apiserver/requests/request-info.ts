import { quoted } from '../../object/index.js';
import type { TransportRequest } from '../../system/index.js';
import { badRequest, unknownResource } from '../status-error.js';

/** The target and operation of a request, read from its method, path and query. */
export type RequestInfo = ResourceRequest | PlainRequest;

/** A request for a path that names no resource: `/version`, `/apis`, `/openapi/v3`, … */
export interface PlainRequest {
  readonly type: 'plain';
  readonly method: TransportRequest['method'];
  /** The decoded path without the query; begins with `/`. */
  readonly path: string;
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

/** The verbs of the API, as RBAC and the request log name them. */
export type Verb =
  'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** A request for a resource of the API. */
export interface ResourceRequest {
  readonly type: 'resource';
  readonly verb: Verb;
  readonly method: TransportRequest['method'];
  readonly group: string;
  readonly version: string;
  /** The plural of the resource. */
  readonly resource: string;
  readonly subresource: string | undefined;
  /** The namespace; empty for cluster-scoped resources and for collections across namespaces. */
  readonly namespace: string;
  /** The name of the object; empty for a collection. */
  readonly name: string;
  readonly query: URLSearchParams;
}

/** Shared by all requests without a query, because parsing costs time. It must not be changed. */
const noQuery = new URLSearchParams();

/**
 * Reads the target and operation of a request.
 * @throws StatusError 400 or 404: the path is not a path of this API.
 */
export function readRequestInfo(request: TransportRequest): RequestInfo {
  const { method, path } = request;
  const question = path.indexOf('?');
  const query = question < 0 ? noQuery : new URLSearchParams(path.slice(question + 1));
  const segments = pathSegments(question < 0 ? path : path.slice(0, question));
  const rest = resourceSegments(segments);
  if (rest === undefined) {
    return { type: 'plain', method, path: `/${segments.join('/')}`, segments, query };
  }
  if (rest.watched && method === 'GET') return watchRequest(rest.target, query);
  const { target } = rest;
  return { type: 'resource', method, query, ...target, verb: verbOf(method, target, query) };
}

/**
 * Returns the path for another server that handles this request, without the query. It consists of the segments that
 * {@link readRequestInfo} read, so the other server serves the authorized path. Undefined for a path that servers may
 * read in other ways.
 */
export function forwardedPath(path: string): string | undefined {
  const question = path.indexOf('?');
  const plain = question < 0 ? path : path.slice(0, question);
  const segments = pathSegments(plain);
  if (segments.some((segment) => ambiguous.test(segment))) return undefined;
  const slash = plain.endsWith('/') && segments.length > 0 ? '/' : '';
  return `/${segments.map(encodeSegment).join('/')}${slash}`;
}

/** Backslashes, number signs and control characters, which some servers drop or resolve, and lone surrogates. */
const ambiguous = /[\\#\p{Cc}\p{Cs}]/u;

/** Encodes a segment as Go does, which leaves `$&+,:;=@` unencoded. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replace(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);
}

/** Returns the watch of a path such as `/api/v1/watch/pods`, the oldest form of a watch. */
function watchRequest(target: ResourcePath, query: URLSearchParams): ResourceRequest {
  const watching = new URLSearchParams(query);
  watching.set('watch', 'true');
  if (target.name !== '') watching.set('fieldSelector', `metadata.name=${target.name}`);
  return { type: 'resource', method: 'GET', verb: 'watch', ...target, name: '', query: watching };
}

function pathSegments(path: string): string[] {
  const parts = path.split('/').slice(1);
  if (parts.at(-1) === '') parts.pop();
  // Decode only if necessary: most paths are plain, and decoding would make every request slower.
  if (path.includes('%') || path.includes('\0')) return parts.map(decodeSegment);
  for (const part of parts) checkSegment(part);
  return parts;
}

/** Refuses segments that a server might resolve: it would serve another path than the authorized one. */
function checkSegment(segment: string): void {
  if (segment === '' || segment === '.' || segment === '..') throw unknownResource();
}

function decodeSegment(part: string): string {
  const decoded = decodePart(part);
  checkSegment(decoded);
  if (decoded.includes('/') || decoded.includes('\0')) throw unknownResource();
  return decoded;
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw badRequest(`invalid URL escape in ${JSON.stringify(part)}`);
  }
}

type ResourcePath = Pick<
  ResourceRequest,
  'group' | 'version' | 'resource' | 'subresource' | 'namespace' | 'name'
>;

/** A path that names a resource. */
interface ResourceSegments {
  readonly target: ResourcePath;
  /** True for a path with `watch` after its version. */
  readonly watched: boolean;
}

function resourceSegments(segments: readonly string[]): ResourceSegments | undefined {
  const [root] = segments;
  if (root !== 'api' && root !== 'apis') return undefined;
  const group = root === 'api' ? '' : (segments[1] ?? '');
  const [version = '', ...rest] = segments.slice(root === 'api' ? 1 : 2);
  const watched = rest[0] === 'watch' && rest.length > 1;
  const path = watched ? rest.slice(1) : rest;
  if (path.length === 0) return undefined;
  return { target: resourcePath({ root, group, version }, path), watched };
}

function resourcePath(
  {
    root,
    group,
    version,
  }: { readonly root: string; readonly group: string; readonly version: string },
  [first = '', second, third, ...more]: readonly string[],
): ResourcePath {
  if (first !== 'namespaces' || (root === 'apis' && second === undefined)) {
    const subresource = subresourceOf([third, ...more]);
    return { group, version, resource: first, namespace: '', name: second ?? '', subresource };
  }
  // `/api/v1/namespaces/x` and `/api/v1/namespaces/x/status` refer to the namespace itself.
  const own = root === 'api' && (third === undefined || isNamespaceSubresource(third));
  if (own && more.length === 0) {
    return {
      group,
      version,
      resource: first,
      namespace: '',
      name: second ?? '',
      subresource: third,
    };
  }
  const [name = '', ...rest] = more;
  return {
    group,
    version,
    resource: third ?? '',
    namespace: second ?? '',
    name,
    subresource: subresourceOf(rest),
  };
}

function isNamespaceSubresource(segment: string): boolean {
  return segment === 'status' || segment === 'finalize';
}

function subresourceOf(segments: readonly (string | undefined)[]): string | undefined {
  const named = segments.filter((segment) => segment !== undefined);
  return named.length === 0 ? undefined : named.join('/');
}

function verbOf(
  method: TransportRequest['method'],
  { name, subresource }: ResourcePath,
  query: URLSearchParams,
): Verb {
  switch (method) {
    case 'GET':
      if (name !== '') return 'get';
      return isTrue(query.get('watch')) && subresource === undefined ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
  }
}

/** Parses a boolean query parameter: every value except `0` and `false` is true, and so is the name without a value. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/**
 * Parses a query parameter that is a whole number.
 * @throws StatusError 400: it is not a whole number, or too large.
 */
export function readInteger(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (!/^[+-]?\d+$/.test(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${quoted(text)}: invalid syntax`);
  }
  if (BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${quoted(text)}: value out of range`);
  }
  return Number(text);
}
