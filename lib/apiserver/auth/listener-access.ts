import type { TransportRequest } from '../../system/transport.js';
import { websiteProblem } from '../../system/website-guard.js';
import { failure, internalError, isStatusError, unauthorized } from '../status-error.js';
import type { StatusError } from '../status-error.js';
import type { Authorizer } from './authorizer.js';
import type { UserOptions } from './user-info.js';
import { errorMessage } from '../../system/as-error.js';

/** A request without its body. Authentication happens before the body is read. */
export type RequestHead = Pick<TransportRequest, 'method' | 'path' | 'headers'>;

/** A client that a {@link ListenerAccess} has authenticated. */
export interface Session {
  readonly user: string | UserOptions;
  /**
   * Authorizes the requests of this client. It must refuse the verb `impersonate` to clients that
   * may not impersonate; otherwise it also authorizes the requests of the impersonated user.
   */
  readonly authorizer: Authorizer;
  /**
   * The end of the session, in milliseconds since 1970 by the server's clock. The server ends its
   * watches then.
   * @defaultValue undefined: never
   */
  readonly untilMs?: number | undefined;
}

/** Authentication and authorization of a listener, in place of the server's own. */
export interface ListenerAccess {
  /**
   * Authenticates a request.
   * @param nowMs - the time of the server, in milliseconds since 1970.
   * @returns undefined: the client is unknown (401)
   * @throws StatusError another answer.
   */
  authenticate(head: RequestHead, nowMs: number): Promise<Session | undefined>;
  /**
   * Returns whether the listener serves a group. Other groups do not exist for its clients.
   * @defaultValue all groups
   */
  readonly serves?: ((group: string) => boolean) | undefined;
}

/** The client of a listener: its session, or the refusal if it is unknown. */
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
): (head: RequestHead) => Promise<Visitor | undefined> {
  const names = new Set(allowedHosts.map((name) => name.toLowerCase()));
  return async (head) => {
    if ('authorization' in head.headers) return undefined;
    const problem = websiteProblem(head, names);
    if (problem === undefined) return undefined;
    return { refused: failure(403, 'Forbidden', `forbidden: ${problem}`, {}) };
  };
}
