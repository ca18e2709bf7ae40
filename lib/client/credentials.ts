/** Header names in lower case; a list is sent as one header for each of its values. */
export type CredentialHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Who the client is. They are asked at every request, so that they may change. */
export interface Credentials {
  /** The headers that prove it. */
  headers(): CredentialHeaders | Promise<CredentialHeaders>;
  /** The server did not accept them (401): get new ones. The request is then sent once more. */
  refresh?(): Promise<void>;
}

/** No credentials: for in-process servers, and for client certificates, which TLS presents. */
export const anonymous: Credentials = { headers: () => ({}) };

/** A token that never changes. */
export function bearerToken(token: string): Credentials {
  const headers = { authorization: `Bearer ${token}` };
  return { headers: () => headers };
}

/** A user name and password (RFC 7617). */
export function basicAuth(username: string, password: string): Credentials {
  const pair = Buffer.from(`${username}:${password}`).toString('base64');
  const headers = { authorization: `Basic ${pair}` };
  return { headers: () => headers };
}

/** `credentials`, and these headers at every request. */
export function withHeaders(credentials: Credentials, extra: CredentialHeaders): Credentials {
  if (Object.keys(extra).length === 0) return credentials;
  return {
    headers: async () => ({ ...(await credentials.headers()), ...extra }),
    ...(credentials.refresh && { refresh: () => credentials.refresh?.() ?? Promise.resolve() }),
  };
}
