import type { KeyObject } from 'node:crypto';
import { readTokenClaims } from './token-claims.js';
import type { TokenClaims } from './token-claims.js';
import { tokenAlgorithm } from './token-key.js';

/** What a token says, or why it says nothing: a text without any part of the token. */
export type TokenVerdict =
  | { readonly claims: TokenClaims; readonly untilMs: number; readonly problem?: undefined }
  | { readonly problem: string };

/** Checks tokens by the public key of who makes them. */
export class TokenVerifier {
  readonly #key: KeyObject;

  constructor(key: KeyObject) {
    this.#key = key;
  }

  /** @param nowMs - the time by which it may have expired, in milliseconds since 1970. */
  async verify(token: string, nowMs: number): Promise<TokenVerdict> {
    const { jwtVerify } = await import('jose');
    const options = { algorithms: [tokenAlgorithm], currentDate: new Date(nowMs) };
    try {
      const { payload } = await jwtVerify(token, this.#key, options);
      return verdictOn(payload);
    } catch (error) {
      return { problem: problemOf(error) };
    }
  }
}

function verdictOn(payload: { readonly exp?: number } & Record<string, unknown>): TokenVerdict {
  const { exp = Infinity } = payload;
  // It may be left out, and JSON can say 1e999.
  if (!Number.isFinite(exp)) return { problem: 'it never expires' };
  const read = readTokenClaims(payload);
  return read.problem === undefined ? { ...read, untilMs: exp * 1000 } : read;
}

const problems: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'it has expired',
  ERR_JOSE_ALG_NOT_ALLOWED: `it is not signed with ${tokenAlgorithm}`,
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'it is not signed by the key of this server',
};

/** Not the message of the error: it may quote the token. */
function problemOf(error: unknown): string {
  const { code = '', claim = '' } = error as { readonly code?: string; readonly claim?: string };
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED') return `its claim ${claim} is not good`;
  return problems[code] ?? 'it is no signed JWT';
}
