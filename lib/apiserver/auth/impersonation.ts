import type { TransportRequest } from '../../system/transport.js';
import { badRequest } from '../status-error.js';
import { refusalOf } from './authorizer.js';
import type { Authorizer } from './authorizer.js';
import type { AccessAttributes } from './access-attributes.js';
import {
  anonymous,
  authenticatedGroup,
  serviceAccountGroups,
  serviceAccountOf,
  unauthenticatedGroup,
} from './user-info.js';
import type { UserInfo } from './user-info.js';

interface Wanted {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/**
 * Returns the user to handle a request for: the user in its `Impersonate-…` headers, if `user` may
 * impersonate it, else `user` itself.
 * @throws StatusError 403: `user` may not impersonate it; 400: the headers name no user.
 */
export function impersonated(
  { headers }: TransportRequest,
  user: UserInfo,
  authorizer: Authorizer,
): UserInfo {
  const wanted = readHeaders(headers);
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

function readHeaders(headers: TransportRequest['headers']): Wanted | undefined {
  const names = Object.keys(headers).filter((name) => /^impersonate-/i.test(name));
  if (names.length === 0) return undefined;
  let username = '';
  let uid = '';
  const groups: string[] = [];
  const extra: Record<string, string[]> = {};
  for (const header of names) {
    const name = header.toLowerCase();
    const value = headers[header] ?? '';
    if (name === 'impersonate-user') username = value;
    else if (name === 'impersonate-uid') uid = value;
    // A repeated header arrives as one, joined by commas.
    else if (name === 'impersonate-group') groups.push(...splitValues(value));
    else if (name.startsWith(extraPrefix)) {
      extra[unescaped(name.slice(extraPrefix.length))] = splitValues(value);
    }
  }
  if (username !== '') return { username, uid, groups, extra };
  if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  throw badRequest(
    `requested ${goText({ username, uid, groups, extra })} without impersonating a user name`,
  );
}

function splitValues(value: string): string[] {
  return value.split(', ').filter((part) => part !== '');
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
