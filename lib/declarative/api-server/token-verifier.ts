import { readFile } from 'node:fs/promises';
import { asError } from '../../system/as-error.js';
import { silentLogger } from '../../system/logger.js';
import type { Logger } from '../../system/logger.js';
import { readTokenClaims } from './token-claims.js';
import type { TokenClaims } from './token-claims.js';
import { tokenAlgorithm, tokenAudience, verifyingKeys } from './token-key.js';
import type { VerifyingKey } from './token-key.js';

/** What a token says, or why it says nothing: a text without any part of the token. */
export type TokenVerdict =
  | { readonly claims: TokenClaims; readonly untilMs: number; readonly problem?: undefined }
  | { readonly problem: string };

/** Options of {@link TokenVerifier}. */
export interface TokenVerifierOptions {
  /** The keys at the start. @defaultValue those of the file */
  readonly keys?: readonly VerifyingKey[] | undefined;
  /** Keys in PEM, read again as the file changes. @defaultValue undefined: the keys stay */
  readonly keyFile?: string | undefined;
  /** Receives why a file could not be read. @defaultValue none */
  readonly logger?: Logger | undefined;
}

/** How old what was read of a file may be. */
const freshMs = 10_000;
/** How soon a token with an unknown key has the file read again. */
const retryMs = 1_000;

/**
 * Checks tokens by the public keys of who makes them. A token names its key (`kid`); one without a name
 * may be of any of them. A key that is taken out of the file is not good within ten seconds.
 */
export class TokenVerifier {
  readonly #keyFile: string | undefined;
  readonly #logger: Logger;
  #keys: readonly VerifyingKey[];
  #readMs = -Infinity;
  #reading: Promise<void> = Promise.resolve();

  constructor({ keys = [], keyFile, logger = silentLogger }: TokenVerifierOptions) {
    this.#keys = keys;
    this.#keyFile = keyFile;
    this.#logger = logger;
  }

  /** @param nowMs - the time by which it may have expired, in milliseconds since 1970. */
  async verify(token: string, nowMs: number): Promise<TokenVerdict> {
    const { decodeProtectedHeader, jwtVerify } = await import('jose');
    const options = {
      ...{ algorithms: [tokenAlgorithm], audience: tokenAudience },
      currentDate: new Date(nowMs),
    };
    let problem: unknown;
    try {
      const { kid } = decodeProtectedHeader(token);
      await this.#reload(kid, nowMs);
      for (const { key } of this.#keysFor(kid)) {
        try {
          const { payload } = await jwtVerify(token, key, options);
          return verdictOn(payload);
        } catch (error) {
          problem = error;
        }
      }
    } catch (error) {
      problem = error;
    }
    return { problem: problemOf(problem) };
  }

  #keysFor(kid: string | undefined): readonly VerifyingKey[] {
    const named = this.#keys.filter(({ id }) => id === kid);
    // Who made it may name its keys otherwise.
    return named.length > 0 ? named : this.#keys;
  }

  async #reload(kid: string | undefined, nowMs: number): Promise<void> {
    const isKnown = this.#keys.some(({ id }) => id === kid);
    const ageMs = nowMs - this.#readMs;
    const isFresh = ageMs >= 0 && ageMs < (isKnown ? freshMs : retryMs);
    if (this.#keyFile !== undefined && !isFresh) {
      this.#readMs = nowMs;
      this.#reading = this.#read(this.#keyFile);
    }
    // Another token may have begun it.
    await this.#reading;
  }

  async #read(file: string): Promise<void> {
    try {
      this.#keys = verifyingKeys(await readFile(file, 'utf8'));
    } catch (error) {
      // It may be half written: what is known stays good.
      const fields = { file, error: asError(error).message };
      this.#logger.warn('views: the keys of tokens could not be read', fields);
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
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'it is not signed by a key of this server',
};

/** Not the message of the error: it may quote the token. */
function problemOf(error: unknown): string {
  const { code = '', claim = '' } = (error ?? {}) as {
    readonly code?: string;
    readonly claim?: string;
  };
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED') return `its claim ${claim} is not good`;
  return problems[code] ?? 'it is no signed JWT';
}
