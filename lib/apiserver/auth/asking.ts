import type { TransportRequest } from '../../system/transport.js';
import type { CertifiedClient } from '../certified-client.js';
import { isStatusError, unauthorized } from '../status-error.js';
import type { StatusError } from '../status-error.js';
import type { AccessControl } from './access-control.js';
import type { Authorizer } from './authorizer.js';
import { impersonated } from './impersonation.js';
import type { Visitor } from './listener-access.js';
import { anonymous, userInfoOf } from './user-info.js';
import type { UserInfo } from './user-info.js';

/** The known facts about the client of a request. */
export interface Asking {
  /** The user itself; replaces credentials. */
  readonly known?: UserInfo | undefined;
  /**
   * The authorizer of the client's requests.
   * @defaultValue the authorizer of the server
   */
  readonly authorizer?: Authorizer | undefined;
  /** The identity in the client's certificate. */
  readonly certified?: CertifiedClient | undefined;
  /** The result of the listener's own authentication; replaces credentials. */
  readonly visitor?: Visitor | undefined;
}

/** The user of a request, and the authorizer of its requests. */
export interface Asker {
  readonly user: UserInfo;
  readonly authorizer: Authorizer;
  /** The time at which the client must authenticate again, in milliseconds since 1970; undefined: never. */
  readonly untilMs?: number | undefined;
}

/** Options of `identify`: {@link Asking} and a callback for refusals. */
export interface IdentifyOptions extends Asking {
  /** Called before a refusal is thrown. */
  readonly onRefused: (user: UserInfo, refusal: StatusError) => void;
}

/**
 * Authenticates the client of a request and applies its impersonation headers.
 * @throws StatusError 401: the client is unknown; 403: it may not impersonate that user.
 */
export function identify(
  access: AccessControl,
  request: TransportRequest,
  { onRefused, ...asking }: IdentifyOptions,
): Asker {
  let user = anonymous;
  try {
    const asker = credentialed(access, request, asking);
    ({ user } = asker);
    return { ...asker, user: impersonated(request, user, asker.authorizer) };
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
