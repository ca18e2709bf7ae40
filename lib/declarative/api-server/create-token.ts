import type { KeyObject } from 'node:crypto';
import { systemClock } from '../../system/clock.js';
import type { Clock } from '../../system/clock.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import { OperatorError } from '../../system/operator-error.js';
import { readTokenClaims } from './token-claims.js';
import type { TokenClaims } from './token-claims.js';
import { keyIdOf, signingKey, tokenAlgorithm, tokenAudience } from './token-key.js';

/** Options of {@link createToken}. */
export interface TokenOptions {
  /** Validity in milliseconds, at least 1,000. @defaultValue 86_400_000: a day */
  readonly validForMs?: number | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
}

const dayMs = 24 * 60 * 60_000;

/**
 * Creates a token for the {@link ViewApiServer}: a JWT (RFC 7519), signed with RS256. The token is a secret.
 * @param key - the private RSA key, of at least 2,048 bits, in PEM.
 * @throws OperatorError `InvalidOption`: the claims, the key or the validity are invalid.
 */
export async function createToken(
  claims: TokenClaims,
  key: string,
  options: TokenOptions = {},
): Promise<string> {
  const { validForMs = dayMs, clock = systemClock } = options;
  refuseUnknownOptions<TokenOptions>('token', options, { validForMs, clock });
  if (!(validForMs >= 1_000 && Number.isFinite(validForMs))) {
    throw new OperatorError('InvalidOption', `token: want validForMs >= 1000, got ${validForMs}`);
  }
  const read = readTokenClaims({ ...claims });
  if (read.problem !== undefined) {
    throw new OperatorError('InvalidOption', `token: ${read.problem}`);
  }
  const nowSeconds = Math.floor(clock.now() / 1000);
  return sign(read.claims, signingKey(key), {
    from: nowSeconds,
    until: nowSeconds + Math.floor(validForMs / 1000),
  });
}

async function sign(
  { username, namespaces, rules }: TokenClaims,
  key: KeyObject,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<string> {
  const { SignJWT } = await import('jose');
  return new SignJWT({
    username,
    namespaces: [...namespaces],
    rules: rules.map((rule) => ({ ...rule })),
  })
    .setProtectedHeader({ alg: tokenAlgorithm, typ: 'JWT', kid: keyIdOf(key) })
    .setAudience(tokenAudience)
    .setIssuedAt(from)
    .setExpirationTime(until)
    .sign(key);
}
