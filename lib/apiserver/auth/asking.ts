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

/** What is known of who asks. */
export interface Asking {
  /** The user itself, in place of credentials. */
  readonly known?: UserInfo | undefined;
  /** Decides what it may do. @defaultValue the authorizer of the server */
  readonly authorizer?: Authorizer | undefined;
  /** What its certificate says. */
  readonly certified?: CertifiedClient | undefined;
  /** What the access of its listener said, in place of credentials. */
  readonly visitor?: Visitor | undefined;
}

/** Who asks, and what decides what it may do. */
export interface Asker {
  readonly user: UserInfo;
  readonly authorizer: Authorizer;
  /** When it must ask anew, in milliseconds since 1970; undefined: never. */
  readonly untilMs?: number | undefined;
}

/** {@link Asking}, and who is told of refusals. */
export interface IdentifyOptions extends Asking {
  /** Called before a refusal is thrown. */
  readonly onRefused: (user: UserInfo, refusal: StatusError) => void;
}

/**
 * Finds out who asks, and for whom it wants to be taken.
 * @throws StatusError 401: nobody knows who asks; 403: it may not be who it wants to be.
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
