/** Who asks: what authentication found out, and what authorization goes by. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A user as options name one. */
export interface UserOptions {
  readonly name: string;
  /** Beside `system:authenticated`, which everyone has who is known. @defaultValue none */
  readonly groups?: readonly string[] | undefined;
  /** @defaultValue none */
  readonly uid?: string | undefined;
  /** @defaultValue none */
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
/** Its members may do everything, whatever the roles say. */
export const mastersGroup = 'system:masters';

/** Who asks where nobody else is named. */
export const administrator: UserInfo = {
  username: 'system:admin',
  groups: [mastersGroup, authenticatedGroup],
};

/** Who asks without credentials where there is authorization. */
export const anonymous: UserInfo = {
  username: 'system:anonymous',
  groups: [unauthenticatedGroup],
};

/** The namespace and name of `system:serviceaccount:namespace:name`. @returns undefined: it is none */
export function serviceAccountOf(
  username: string,
): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace = '', name = ''] =
    /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
  return name === '' ? undefined : { namespace, name };
}

/** The groups of every service account of a namespace. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/** The user that options name; one without groups of its own has those that come with its name. */
export function userInfoOf(user: string | UserOptions): UserInfo {
  const { name, groups, uid, extra } =
    typeof user === 'string' ? ({ name: user } as UserOptions) : user;
  if (groups === undefined && name === administrator.username) return administrator;
  const account = serviceAccountOf(name);
  const own = groups ?? (account === undefined ? [] : serviceAccountGroups(account.namespace));
  const known = own.includes(authenticatedGroup) || own.includes(unauthenticatedGroup);
  if (name === anonymous.username && groups === undefined) return anonymous;
  return { username: name, uid, groups: known ? own : [...own, authenticatedGroup], extra };
}
