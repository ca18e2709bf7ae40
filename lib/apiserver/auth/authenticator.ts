import type { TransportRequest } from '../../system/transport.js';
import type { CertifiedClient } from '../certified-client.js';
import { serverAudience } from './service-account-tokens.js';
import type { ServiceAccountTokens, TokenVerdict } from './service-account-tokens.js';
import { administrator, anonymous, userInfoOf } from './user-info.js';
import type { UserInfo, UserOptions } from './user-info.js';

/** Options of an {@link Authenticator}. */
export interface AuthenticatorOptions {
  /** Bearer tokens and their users. */
  readonly users: Readonly<Record<string, string | UserOptions>>;
  readonly tokens: ServiceAccountTokens;
  /** If true, a client without credentials is anonymous, not the administrator. */
  readonly anonymous: boolean;
}

/** Authenticates requests. */
export class Authenticator {
  readonly #users: ReadonlyMap<string, UserInfo>;
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    const known = Object.entries(options.users);
    this.#users = new Map(known.map(([token, user]) => [token, userInfoOf(user)]));
  }

  /**
   * Returns the user of a client certificate or a bearer token.
   * @returns undefined: the certificate or the token is invalid
   */
  authenticate(
    { headers }: TransportRequest,
    certified: CertifiedClient | undefined,
  ): UserInfo | undefined {
    if (certified !== undefined) return certifiedUser(certified);
    const [, token] = /^Bearer +(.+)$/i.exec(headers['authorization'] ?? '') ?? [];
    if (token === undefined) return this.#options.anonymous ? anonymous : administrator;
    const verdict = this.tokenUser(token);
    return 'user' in verdict ? verdict.user : undefined;
  }

  /**
   * Returns the user of a token.
   * @param audiences - the accepted audiences of the token; defaults to that of the server.
   */
  tokenUser(token: string, audiences: readonly string[] = [serverAudience]): TokenVerdict {
    const known = this.#users.get(token);
    if (known !== undefined) {
      // Configured tokens are for the server only.
      return audiences.includes(serverAudience)
        ? { user: known, audiences: [serverAudience] }
        : { error: 'invalid bearer token' };
    }
    const verdict = this.#options.tokens.verify(token, audiences);
    if (verdict === undefined) return { error: 'invalid bearer token' };
    return 'user' in verdict ? verdict : { error: `[invalid bearer token, ${verdict.error}]` };
  }
}

function certifiedUser({
  trusted,
  user,
  groups,
  fingerprint,
}: CertifiedClient): UserInfo | undefined {
  if (!trusted || user === '') return undefined;
  const extra = { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] };
  return userInfoOf({ name: user, groups, extra });
}
