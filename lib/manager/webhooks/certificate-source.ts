import type { Clock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import type { RequiredAccess } from '../access/required-access.js';

/** What a TLS server shows, in PEM. */
export interface ServingCertificate {
  /** The certificate, followed by those in between it and its authority. */
  readonly certificate: string;
  readonly privateKey: string;
}

/** What a {@link CertificateSource} is given. */
export interface CertificateContext {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends it: it leaves no timer behind. */
  readonly signal: AbortSignal;
  /** To be called with each certificate that takes the place of the one before. */
  readonly onChange: (certificate: ServingCertificate) => void;
}

/** Where the certificate of a webhook server comes from. */
export interface CertificateSource {
  /** What it does on the cluster, for the preflight of permissions. @defaultValue nothing */
  readonly access?: readonly RequiredAccess[] | undefined;
  /**
   * Resolves with the first certificate, and tells of later ones until `signal` is aborted.
   * @throws OperatorError there is none.
   */
  start(context: CertificateContext): Promise<ServingCertificate>;
}
