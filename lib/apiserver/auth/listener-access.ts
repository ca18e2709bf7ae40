import type { TransportRequest } from '../../system/transport.js';
import { websiteProblem } from '../../system/website-guard.js';
import { failure, internalError, isStatusError, unauthorized } from '../status-error.js';
import type { StatusError } from '../status-error.js';
import type { Authorizer } from './authorizer.js';
import type { UserOptions } from './user-info.js';
import { errorMessage } from '../../system/as-error.js';

/** A request without its body, which is not read before it is known who asks. */
export type RequestHead = Pick<TransportRequest, 'method' | 'path' | 'headers'>;

/** Somebody whom a {@link ListenerAccess} knows. */
export interface Session {
  readonly user: string | UserOptions;
  /**
   * Decides what it may do. Asked for the verb `impersonate` too: who must not stand for others is
   * refused that, and else it is asked for the user that is stood for.
   */
  readonly authorizer: Authorizer;
  /**
   * When it ends, in milliseconds since 1970 by the server's clock: watches end then.
   * @defaultValue undefined: never
   */
  readonly untilMs?: number | undefined;
}

/** Who may come in by a listener, and what they may do: in place of what the server itself says. */
export interface ListenerAccess {
  /**
   * Finds out who asks.
   * @param nowMs - the time of the server, in milliseconds since 1970.
   * @returns undefined: nobody knows (401)
   * @throws StatusError another answer.
   */
  authenticate(head: RequestHead, nowMs: number): Promise<Session | undefined>;
  /** Whether the listener shows a group; those that it does not are not there. @defaultValue all */
  readonly serves?: ((group: string) => boolean) | undefined;
}

/** Who comes in by a listener: whom it knows, or the answer to whom it does not. */
export type Visitor =
  | { readonly session: Session; readonly refused?: undefined }
  | { readonly refused: StatusError; readonly session?: undefined };

/** Whom `access` lets in. A defect of `access` is a 500, as one of the server. */
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
 * Refuses requests that a website in a browser of this machine could have sent, since the server
 * takes every request without credentials for the administrator's. A website can't know a token, so a
 * request with an `Authorization` header is left to the server.
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
