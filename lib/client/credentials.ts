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
