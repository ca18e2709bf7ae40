import { readFile } from 'node:fs/promises';
import { isJsonObject } from '../object/index.js';
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

/** The user as whom a client sends its requests. */
export interface Impersonation {
  readonly user: string;
  /** The groups of the user. @defaultValue the groups of a ServiceAccount, if the user is one */
  readonly groups?: readonly string[] | undefined;
  readonly uid?: string | undefined;
  /** Further attributes, such as `{ scopes: ['view'] }`. API servers read the keys in lower case. */
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

// HTTP removes surrounding spaces, so the server would receive another name. UTF-8 can't encode a lone surrogate.
const headerText = /^(?!\s)[^\p{Cc}\p{Cs}]+(?<!\s)$/u;

/**
 * Returns the headers by which a client impersonates a user ("User impersonation" in the Kubernetes
 * documentation). Each group and each extra value is a header of its own.
 * @param refuse - returns the error for a value that no header can carry
 */
export function impersonationHeaders(
  { user, groups = [], uid = '', extra = {} }: Impersonation,
  refuse: (field: keyof Impersonation, problem: string) => Error,
): CredentialHeaders {
  const checked = (field: keyof Impersonation, text: string): string => {
    if (typeof text === 'string' && headerText.test(text)) return text;
    const want = 'want text without control characters and surrounding spaces';
    throw refuse(field, `${want}, got ${JSON.stringify(text)}`);
  };
  // Transports write a character as one byte, and API servers read UTF-8.
  const bytes = (field: keyof Impersonation, text: string): string =>
    Buffer.from(checked(field, text)).toString('latin1');
  const headers: Record<string, string | readonly string[]> = {
    'impersonate-user': bytes('user', user),
  };
  if (!Array.isArray(groups)) throw refuse('groups', `want a list, got ${JSON.stringify(groups)}`);
  if (groups.length > 0) {
    headers['impersonate-group'] = groups.map((group: string) => bytes('groups', group));
  }
  if (uid !== '') headers['impersonate-uid'] = bytes('uid', uid);
  if (!isJsonObject(extra) || !Object.values(extra).every(Array.isArray)) {
    throw refuse('extra', `want an object of lists, got ${JSON.stringify(extra)}`);
  }
  for (const [key, values] of Object.entries(extra)) {
    const escaped = encodeURIComponent(checked('extra', key)).replaceAll(/[()]/g, percent);
    headers[`impersonate-extra-${escaped.toLowerCase()}`] = values.map((value) =>
      bytes('extra', value),
    );
  }
  return headers;
}

/** Encodes an ASCII character that `encodeURIComponent` does not encode, and that header names do not allow. */
function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
}

// Interval of reads. The kubelet replaces a token after 80 % of its lifetime, at the earliest after 8 minutes.
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

/** Reads the current TLS settings. Returns the same object while they are unchanged. */
type TlsReader = () => Promise<TlsOptions>;

/**
 * Returns a reader that keeps the last settings while `read` fails: a file may be absent for a moment, or the
 * new key may not be there yet. Each problem is logged once.
 * @throws the error of `read`, until it has succeeded once.
 */
export function keepingFormer(read: TlsReader, logger: Logger): TlsReader {
  let former: TlsOptions | undefined;
  const problems = new Set<string>();
  return async () => {
    try {
      former = await read();
      if (problems.size > 0) logger.info('the certificate files can be used again');
      problems.clear();
      return former;
    } catch (error) {
      if (former === undefined) throw error;
      const message = errorMessage(error);
      const what = 'certificate files cannot be used; the previous certificate stays in use';
      if (!problems.has(message)) logger.warn(what, { error });
      problems.add(message);
      return former;
    }
  };
}

interface CertificateFilesOptions {
  /** Reads the files, or fails. */
  readonly read: TlsReader;
  /** Reads the settings of new connections; made by {@link keepingFormer}. */
  readonly tls: TlsReader;
  /** Makes later requests use new connections. */
  readonly reconnect: () => Promise<void>;
  readonly clock: Clock;
}

// Interval of reading the files: certificates are rotated well before they expire.
const freshMs = 60_000;

/**
 * Wraps `credentials` of a user whose client certificate is in files that are replaced. A kept-alive
 * connection would present the old certificate forever, and the API server checks its expiry at each request.
 * The files are read again after a minute and after a 401; a changed certificate opens new connections.
 * Watches under way keep theirs.
 */
export function withCertificateFiles(
  credentials: Credentials,
  { read, tls, reconnect, clock }: CertificateFilesOptions,
): Credentials {
  let used: TlsOptions | undefined;
  let readAtMs = -Infinity;
  const check = async (): Promise<void> => {
    readAtMs = clock.monotonicMs();
    const { cert, key } = await tls();
    const isAnother = used !== undefined && (used.cert !== cert || used.key !== key);
    used = { cert, key };
    if (isAnother) await reconnect();
  };
  return {
    headers: async () => {
      // The former certificate may still be valid; if not, the server answers 401.
      if (clock.monotonicMs() - readAtMs >= freshMs) await check();
      return credentials.headers();
    },
    refresh: async () => {
      // The server has rejected the last certificate. If the files cannot be read, throw that error instead of sending
      // the same certificate again.
      await read();
      await check();
      await credentials.refresh?.();
    },
  };
}
