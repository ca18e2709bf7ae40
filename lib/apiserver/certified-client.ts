import type { Socket } from 'node:net';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';

/** Content of a connection's client certificate. */
export interface CertifiedClient {
  /** True if the server's authority signed the certificate and it is valid now. */
  readonly trusted: boolean;
  /** CN of the subject. */
  readonly user: string;
  /** O of the subject. */
  readonly groups: readonly string[];
  /** SHA-256 fingerprint of the certificate, in hexadecimal. */
  readonly fingerprint: string;
}

/** Reads the client certificate of a connection. @returns undefined if the connection has none */
export function certifiedClient(socket: Socket): CertifiedClient | undefined {
  if (!('getPeerCertificate' in socket)) return undefined;
  const secure = socket as TLSSocket;
  const certificate = secure.getPeerCertificate(true) as Partial<DetailedPeerCertificate>;
  const { subject, fingerprint256 = '' } = certificate;
  if (subject === undefined) return undefined;
  // A name with several values comes as a list, which the types omit.
  const { O: groups = [], CN: user = '' } = subject as unknown as {
    readonly O?: string | readonly string[];
    readonly CN?: string;
  };
  return {
    trusted: secure.authorized,
    user,
    groups: typeof groups === 'string' ? [groups] : groups,
    fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}
