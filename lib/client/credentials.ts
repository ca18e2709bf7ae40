import { readFile } from 'node:fs/promises';
import { errorMessage, OperatorError } from '../system/index.js';
import type { Clock, TlsOptions, Logger } from '../system/index.js';

/** Header names in lower case; a list is sent as one header per value. */
export type CredentialHeaders = Readonly<Record<string, string | readonly string[]>>;

/** The client's identity. Called for every request, so that it may change. */
export interface Credentials {
  /** Returns the authentication headers. */
  headers(): CredentialHeaders | Promise<CredentialHeaders>;
  /** Renews the credentials after a 401. The client then sends the request again. */
  refresh?(): Promise<void>;
}

/** Sends no credentials: for in-process servers, and for client certificates, which TLS presents. */
export const anonymous: Credentials = { headers: () => ({}) };

/** Uses a token that never changes. */
export function bearerToken(token: string): Credentials {
  const headers = { authorization: `Bearer ${token}` };
  return { headers: () => headers };
}

/** Uses a user name and password (RFC 7617). */
export function basicAuth(username: string, password: string): Credentials {
  const pair = Buffer.from(`${username}:${password}`).toString('base64');
  const headers = { authorization: `Basic ${pair}` };
  return { headers: () => headers };
}

/** Adds `extra` to the headers of every request. */
export function withHeaders(credentials: Credentials, extra: CredentialHeaders): Credentials {
  if (Object.keys(extra).length === 0) return credentials;
  return {
    headers: async () => ({ ...(await credentials.headers()), ...extra }),
    ...(credentials.refresh && { refresh: () => credentials.refresh?.() ?? Promise.resolve() }),
  };
}

// The kubelet replaces a token after 80 % of its lifetime, at the earliest after 8 minutes.
const tokenFreshMs = 60_000;

/**
 * Reads the token from a file that another process rewrites, as the kubelet does with a service account's.
 * The file is read again after a minute, client-go's interval, and after a 401.
 * @throws OperatorError `InvalidKubeConfig` at a request: the file could never be read.
 */
export function tokenFile(path: string, clock: Clock): Credentials {
  let headers: Readonly<Record<string, string>> | undefined;
  let readAtMs = 0;
  const read = async (): Promise<void> => {
    const token = (await readFile(path, 'utf8')).trim();
    if (token === '') throw new Error('it is empty');
    headers = { authorization: `Bearer ${token}` };
    readAtMs = clock.monotonicMs();
  };
  return {
    headers: async () => {
      if (headers !== undefined && clock.monotonicMs() - readAtMs < tokenFreshMs) return headers;
      try {
        await read();
      } catch (error) {
        // The current token may still be valid; if not, the server answers 401.
        if (headers === undefined) throw unreadable(path, error);
        readAtMs = clock.monotonicMs();
      }
      return headers ?? {};
    },
    refresh: () =>
      read().catch((error: unknown) => {
        throw unreadable(path, error);
      }),
  };
}

function unreadable(path: string, cause: unknown): OperatorError {
  const reason = errorMessage(cause);
  const message = `token file ${path}: ${reason} (mount a service account token there)`;
  return new OperatorError('InvalidKubeConfig', message, { cause });
}

interface CertificateFilesOptions {
  /** Reads the files. Returns the same object while their content is unchanged. */
  readonly tls: () => Promise<TlsOptions>;
  /** Makes later requests use new connections. */
  readonly reconnect: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

// Certificates are rotated well before they expire.
const freshMs = 60_000;

/**
 * Wraps `credentials` of a user whose client certificate is in files that are replaced. A kept-alive
 * connection would present the old certificate forever, and the API server checks its expiry at each request.
 * The files are read again after a minute and after a 401; a changed certificate opens new connections.
 * Watches under way keep theirs. An unreadable file is logged once per problem.
 */
export function withCertificateFiles(
  credentials: Credentials,
  { tls, reconnect, clock, logger }: CertificateFilesOptions,
): Credentials {
  let used: TlsOptions | undefined;
  let readAtMs = -Infinity;
  let problem: string | undefined;
  const check = async (): Promise<void> => {
    readAtMs = clock.monotonicMs();
    const now = await tls();
    const isAnother = used !== undefined && (used.cert !== now.cert || used.key !== now.key);
    used = now;
    if (problem !== undefined) logger.info('the files of the client certificate can be read again');
    problem = undefined;
    if (isAnother) await reconnect();
  };
  const keepFormer = (error: unknown): void => {
    const message = errorMessage(error);
    if (message === problem) return;
    problem = message;
    logger.warn(
      'the files of the client certificate can not be read: the former one stays in use',
      {
        error,
      },
    );
  };
  return {
    headers: async () => {
      // The files may be absent for a moment. The current certificate may still be valid; if not, the server
      // answers 401.
      if (clock.monotonicMs() - readAtMs >= freshMs) await check().catch(keepFormer);
      return credentials.headers();
    },
    refresh: async () => {
      await check();
      await credentials.refresh?.();
    },
  };
}
