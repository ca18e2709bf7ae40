import type { Socket } from 'node:net';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';

/** What the client certificate of a connection says. */
export interface CertifiedClient {
  /** It is signed by the authority of the server, and good at the moment. */
  readonly trusted: boolean;
  /** CN of its subject. */
  readonly user: string;
  /** O of its subject. */
  readonly groups: readonly string[];
  /** Its SHA-256 fingerprint, in hexadecimal. */
  readonly fingerprint: string;
}

/** @returns undefined: the connection has no client certificate */
export function certifiedClient(socket: Socket): CertifiedClient | undefined {
  if (!('getPeerCertificate' in socket)) return undefined;
  const secure = socket as TLSSocket;
  const certificate = secure.getPeerCertificate(true) as Partial<DetailedPeerCertificate>;
  const { subject, fingerprint256 = '' } = certificate;
  if (subject === undefined) return undefined;
  // Several values of a name come as a list, which the types don't say.
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
