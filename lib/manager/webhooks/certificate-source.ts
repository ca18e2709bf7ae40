import type { Clock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import type { RequiredAccess } from '../access/required-access.js';

/** Certificate and key of a TLS server, in PEM. */
export interface ServingCertificate {
  /** The certificate, followed by its intermediates. */
  readonly certificate: string;
  readonly privateKey: string;
}

/** Argument of `start` of a {@link CertificateSource}. */
export interface CertificateContext {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Stops the source; it leaves no timer behind. */
  readonly signal: AbortSignal;
  /** Called with each replacement of the certificate. */
  readonly onChange: (certificate: ServingCertificate) => void;
}

/** Provides the certificate of a webhook server. */
export interface CertificateSource {
  /** Access that the source needs, for the RBAC preflight. @defaultValue nothing */
  readonly access?: readonly RequiredAccess[] | undefined;
  /**
   * Resolves with the first certificate, and calls `onChange` with later ones until `signal` is aborted.
   * @throws OperatorError there is no certificate.
   */
  start(context: CertificateContext): Promise<ServingCertificate>;
}
