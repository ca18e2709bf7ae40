/** The user of a request: the result of authentication and the input of authorization. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A user in options. */
export interface UserOptions {
  readonly name: string;
  /**
   * Groups in addition to `system:authenticated`, which every known user has.
   * @defaultValue none
   */
  readonly groups?: readonly string[] | undefined;
  /**
   * The uid of the user.
   * @defaultValue none
   */
  readonly uid?: string | undefined;
  /**
   * Extra attributes of the user.
   * @defaultValue none
   */
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
/** The group whose members may do everything, whatever the roles allow. */
export const mastersGroup = 'system:masters';

/** The user of requests without credentials if there is no authorization. */
export const administrator: UserInfo = {
  username: 'system:admin',
  groups: [mastersGroup, authenticatedGroup],
};

/** The user of requests without credentials if there is authorization. */
export const anonymous: UserInfo = {
  username: 'system:anonymous',
  groups: [unauthenticatedGroup],
};

/**
 * Parses `system:serviceaccount:namespace:name`.
 * @returns undefined: `username` is not of this form
 */
export function serviceAccountOf(
  username: string,
): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace = '', name = ''] =
    /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
  return name === '' ? undefined : { namespace, name };
}

/** Returns the groups of every service account of a namespace. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/**
 * Returns the user that options name. Without `groups`, the user gets the groups that come with its
 * name.
 */
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
