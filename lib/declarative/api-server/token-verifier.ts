import { readFile } from 'node:fs/promises';
import { asError } from '../../system/as-error.js';
import { silentLogger } from '../../system/logger.js';
import type { Logger } from '../../system/logger.js';
import { readTokenClaims } from './token-claims.js';
import type { TokenClaims } from './token-claims.js';
import { tokenAlgorithm, tokenAudience, verifyingKeys } from './token-key.js';
import type { VerifyingKey } from './token-key.js';

/** The claims of a token, or its problem: a text without any part of the token. */
export type TokenVerdict =
  | { readonly claims: TokenClaims; readonly untilMs: number; readonly problem?: undefined }
  | { readonly problem: string };

/** Options of {@link TokenVerifier}. */
export interface TokenVerifierOptions {
  /** The initial keys. @defaultValue those of the file */
  readonly keys?: readonly VerifyingKey[] | undefined;
  /** Keys in PEM, read again when the file changes. @defaultValue undefined: the keys are fixed */
  readonly keyFile?: string | undefined;
  /** Logs why a file could not be read. @defaultValue no logger */
  readonly logger?: Logger | undefined;
}

/** Longest age of the keys read from a file. */
const freshMs = 10_000;
/** Shortest interval between reads that tokens with an unknown key cause. */
const retryMs = 1_000;

/**
 * Verifies tokens with the public keys of their issuer. A token may name its key (`kid`); otherwise all keys
 * are tried. A key removed from the file becomes invalid within ten seconds.
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

  /** @param nowMs - the current time for the expiry, in milliseconds since 1970. */
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
    // The issuer may name its keys differently.
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
    // Another token may have started the read.
    await this.#reading;
  }

  async #read(file: string): Promise<void> {
    try {
      this.#keys = verifyingKeys(await readFile(file, 'utf8'));
    } catch (error) {
      // The file may be half written: the known keys stay valid.
      const fields = { file, error: asError(error).message };
      this.#logger.warn('views: the keys of tokens could not be read', fields);
    }
  }
}

function verdictOn(payload: { readonly exp?: number } & Record<string, unknown>): TokenVerdict {
  const { exp = Infinity } = payload;
  // `exp` may be missing, and JSON can hold 1e999.
  if (!Number.isFinite(exp)) return { problem: 'it never expires' };
  const read = readTokenClaims(payload);
  return read.problem === undefined ? { ...read, untilMs: exp * 1000 } : read;
}

const problems: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'it has expired',
  ERR_JOSE_ALG_NOT_ALLOWED: `it is not signed with ${tokenAlgorithm}`,
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'it is not signed by a key of this server',
};

/** Returns a description without the error's message, which may quote the token. */
function problemOf(error: unknown): string {
  const { code = '', claim = '' } = (error ?? {}) as {
    readonly code?: string;
    readonly claim?: string;
  };
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED') return `its claim ${claim} is not good`;
  return problems[code] ?? 'it is no signed JWT';
}
