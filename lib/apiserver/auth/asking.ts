import { errorMessage, websiteProblem } from '../../system/index.js';
import type { TransportRequest } from '../../system/index.js';
import {
  badRequest,
  failure,
  internalError,
  isStatusError,
  unauthorized,
} from '../status-error.js';
import type { StatusError } from '../status-error.js';
import type { AccessAttributes } from './policy-rule.js';
import type { AccessControl } from './access-control.js';
import {
  anonymous,
  authenticatedGroup,
  serviceAccountGroups,
  serviceAccountOf,
  unauthenticatedGroup,
  userInfoOf,
} from './authenticator.js';
import type { CertifiedClient, UserInfo, UserOptions } from './authenticator.js';
import { refusalOf } from './authorizer.js';
import type { Authorizer } from './authorizer.js';

/** Facts about the client of a request. */
export interface Asking {
  /** The user, if the caller already knows it; the server then ignores credentials. */
  readonly known?: UserInfo | undefined;
  /** The authorizer of the client's requests. @defaultValue the authorizer of the server */
  readonly authorizer?: Authorizer | undefined;
  /** The identity in the client's certificate. */
  readonly certified?: CertifiedClient | undefined;
  /** The result of the listener's own authentication; the server then ignores credentials. */
  readonly visitor?: Visitor | undefined;
}

/** The user of a request, and the authorizer that decides about the request. */
export interface Asker {
  readonly user: UserInfo;
  readonly authorizer: Authorizer;
  /** The time at which the client must authenticate again, in milliseconds since 1970; undefined: never. */
  readonly untilMs?: number | undefined;
}

/**
 * Authenticates the client of a request and applies its impersonation headers.
 * @param onRefused - called before a refusal is thrown.
 * @throws StatusError 401: the client is unknown; 403: the client may not impersonate the requested user.
 */
export function identify(
  access: AccessControl,
  request: TransportRequest,
  asking: Asking,
  onRefused: (user: UserInfo, refusal: StatusError) => void,
): Asker {
  let user = anonymous;
  try {
    const asker = credentialed(access, request, asking);
    ({ user } = asker);
    const { authorizer, untilMs } = asker;
    const asked = impersonated(request, user, authorizer);
    return asked === user ? asker : { user: asked, authorizer, untilMs };
  } catch (error) {
    if (isStatusError(error)) onRefused(user, error);
    throw error;
  }
}

function credentialed(access: AccessControl, request: TransportRequest, asking: Asking): Asker {
  const { known, certified, visitor } = asking;
  if (visitor?.refused !== undefined) throw visitor.refused;
  if (visitor !== undefined) {
    const { user, authorizer, untilMs } = visitor.session;
    return { user: userInfoOf(user), authorizer, untilMs };
  }
  const { authenticator } = access;
  const { authorizer = access.authorizer } = asking;
  const user = known ?? authenticator.authenticate(request, certified);
  if (user === undefined) throw unauthorized();
  return { user, authorizer };
}

interface Wanted {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/**
 * Returns the user for whom to handle a request: `user`, or the user that `Impersonate-…` headers name, if `user` may
 * impersonate that user.
 * @throws StatusError 403: `user` may not impersonate the named user; 400: the headers name no user.
 */
function impersonated(request: TransportRequest, user: UserInfo, authorizer: Authorizer): UserInfo {
  const wanted = readHeaders(request);
  if (wanted === undefined) return user;
  for (const attributes of asked(wanted)) {
    const refusal = refusalOf(authorizer, user, attributes);
    if (refusal !== undefined) throw refusal;
  }
  const { username, uid, extra } = wanted;
  return {
    username,
    groups: groupsOf(wanted),
    ...(uid !== '' && { uid }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

const extraPrefix = 'impersonate-extra-';

function readHeaders({ headers, repeatedHeaders }: TransportRequest): Wanted | undefined {
  const all = repeatedHeaders === undefined ? headers : { ...headers, ...repeatedHeaders };
  const names = Object.keys(all).filter(isImpersonating);
  if (names.length === 0) return undefined;
  let username = '';
  let uid = '';
  const groups: string[] = [];
  const extra: Record<string, string[]> = {};
  for (const header of names) {
    const name = header.toLowerCase();
    const value = all[header] ?? '';
    if (name === 'impersonate-user') username = decoded(String(value));
    else if (name === 'impersonate-uid') uid = decoded(String(value));
    else if (name === 'impersonate-group') groups.push(...valuesOf(value));
    else if (name.startsWith(extraPrefix)) {
      extra[unescaped(name.slice(extraPrefix.length))] = valuesOf(value);
    }
  }
  if (username !== '') return { username, uid, groups, extra };
  if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  throw badRequest(
    `requested ${goText({ username, uid, groups, extra })} without impersonating a user name`,
  );
}

function isImpersonating(name: string): boolean {
  return /^impersonate-/i.test(name);
}

/** Node.js joins the values of a repeated header with commas. */
function valuesOf(value: string | readonly string[]): string[] {
  const values = typeof value === 'string' ? value.split(', ') : value;
  return values.filter((part) => part !== '').map(decoded);
}

/** Decodes a header value, in which each character is one byte of UTF-8. */
function decoded(value: string): string {
  return Buffer.from(value, 'latin1').toString();
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    // Keep an invalid encoding unchanged, as the real server does.
    return key;
  }
}

function goText({ uid, groups, extra }: Wanted): string {
  const texts = (values: readonly string[]): string =>
    `[]string{${values.map((value) => JSON.stringify(value)).join(', ')}}`;
  const list = groups.length === 0 ? '[]string(nil)' : texts(groups);
  const entries = Object.entries(extra).map(
    ([key, value]) => `${JSON.stringify(key)}:${texts(value)}`,
  );
  const map = entries.length === 0 ? '(nil)' : `{${entries.join(', ')}}`;
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${list}, Extra:map[string][]string${map}}`;
}

function groupsOf({ username, groups }: Wanted): readonly string[] {
  const account = serviceAccountOf(username);
  const own =
    groups.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : groups;
  if (username === anonymous.username) {
    return own.includes(unauthenticatedGroup) ? own : [...own, unauthenticatedGroup];
  }
  const known = own.includes(authenticatedGroup) || own.includes(unauthenticatedGroup);
  return known ? own : [...own, authenticatedGroup];
}

const authentication = 'authentication.k8s.io';

function* asked({ username, uid, groups, extra }: Wanted): Generator<AccessAttributes> {
  const base = { verb: 'impersonate', group: '', subresource: '', namespace: '' };
  const account = serviceAccountOf(username);
  if (account === undefined) yield { ...base, resource: 'users', name: username };
  else yield { ...base, resource: 'serviceaccounts', ...account };
  for (const name of groups) yield { ...base, resource: 'groups', name };
  for (const [subresource, values] of Object.entries(extra)) {
    for (const name of values) {
      yield { ...base, group: authentication, resource: 'userextras', subresource, name };
    }
  }
  if (uid !== '') yield { ...base, group: authentication, resource: 'uids', name: uid };
}

/** A request without its body. Authentication happens before the body is read. */
export type RequestHead = Pick<TransportRequest, 'method' | 'path' | 'headers'>;

/** A client that a {@link ListenerAccess} has authenticated. */
export interface Session {
  readonly user: string | UserOptions;
  /**
   * Authorizes the requests of this client, and of users that the client impersonates. The authorizer must refuse the
   * verb `impersonate` to a client that may not impersonate.
   */
  readonly authorizer: Authorizer;
  /**
   * The end of the session, in milliseconds since 1970 by the server's clock. The server then ends the watches of
   * the session.
   * @defaultValue undefined: never
   */
  readonly untilMs?: number | undefined;
}

/** Authentication and authorization of the requests of one HTTP listener, in place of those of the API server. */
export interface ListenerAccess {
  /**
   * Authenticates a request.
   * @param nowMs - the time of the server, in milliseconds since 1970.
   * @returns undefined if the client is unknown (401)
   * @throws StatusError the answer to send in place of a 401.
   */
  authenticate(head: RequestHead, nowMs: number): Promise<Session | undefined>;
  /**
   * Returns whether the listener serves a group. Other groups do not exist for its clients.
   * @defaultValue all groups
   */
  readonly serves?: ((group: string) => boolean) | undefined;
}

/** The result of the authentication by a listener: the session of the client, or the error if the client is unknown. */
export type Visitor =
  | { readonly session: Session; readonly refused?: undefined }
  | { readonly refused: StatusError; readonly session?: undefined };

/** Authenticates a request by `access`. An unexpected error of `access` becomes a 500. */
export async function admit(
  access: ListenerAccess,
  head: RequestHead,
  nowMs: number,
): Promise<Visitor> {
  try {
    const session = await access.authenticate(head, nowMs);
    return session === undefined ? { refused: unauthorized() } : { session };
  } catch (error) {
    if (isStatusError(error)) return { refused: error };
    return { refused: internalError(errorMessage(error)) };
  }
}

/**
 * Refuses requests that a website in a browser on this machine could have sent, because the server
 * treats every request without credentials as the administrator's. A website cannot know a token,
 * so the server handles requests with an `Authorization` header itself.
 */
export function websiteGuard(
  allowedHosts: readonly string[] = [],
): (head: RequestHead) => Visitor | undefined {
  const names = new Set(allowedHosts.map((name) => name.toLowerCase()));
  return (head) => {
    if ('authorization' in head.headers) return undefined;
    const problem = websiteProblem(head, names);
    if (problem === undefined) return undefined;
    return { refused: failure(403, 'Forbidden', `forbidden: ${problem}`, {}) };
  };
}
