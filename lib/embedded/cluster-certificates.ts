import { systemClock } from '../system/clock.js';
import type { Random } from '../system/random.js';
import { createAuthority, issueCertificate, issueClientCertificate } from '../system/x509.js';
import type { Authority, CertificateAndKey, ClientSubject, IssueOptions } from '../system/x509.js';

const dayMs = 24 * 60 * 60_000;
const names = ['127.0.0.1', '::1', 'localhost', 'kubernetes', 'kubernetes.default.svc'];

/** The certificates of a cluster that serves HTTPS: its authority's and its server's. */
export class ClusterCertificates {
  /** The authority's certificate, in PEM. */
  readonly authority: string;
  readonly server: CertificateAndKey;
  readonly #authority: Authority;
  readonly #options: IssueOptions;

  private constructor(parts: {
    readonly authority: Authority;
    readonly server: CertificateAndKey;
    readonly options: IssueOptions;
  }) {
    this.authority = parts.authority.certificate;
    this.server = parts.server;
    this.#authority = parts.authority;
    this.#options = parts.options;
  }

  static async create(random: Random): Promise<ClusterCertificates> {
    // Uses the system clock, because clients check the validity against the real time.
    const now = systemClock.now();
    const options = { random, validity: { fromMs: now - dayMs, untilMs: now + 365 * dayMs } };
    const authority = await createAuthority('embedded-cluster', options);
    const server = await issueCertificate(authority, names, options);
    return new ClusterCertificates({ authority, server, options });
  }

  /** Issues a client certificate. */
  client(subject: ClientSubject): Promise<CertificateAndKey> {
    return issueClientCertificate(this.#authority, subject, this.#options);
  }
}
