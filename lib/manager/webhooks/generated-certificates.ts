import type { Client } from '../../client/client.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import { OperatorError } from '../../system/operator-error.js';
import { systemRandom } from '../../system/random.js';
import type { Random } from '../../system/random.js';
import { CertificateRotation } from './certificate-rotation.js';
import type { CertificateRotationOptions } from './certificate-rotation.js';
import { CertificateSecret, secretAccess } from './certificate-secret.js';
import type { CertificateSource } from './certificate-source.js';
import { trustAccess } from './trust.js';
import type { TrustTargets } from './trust.js';

const dayMs = 24 * 60 * 60_000;

/** Options of {@link generatedCertificates}. */
export interface GeneratedCertificatesOptions {
  /** Reads and writes the Secret and the `caBundle`s. */
  readonly client: Client;
  /**
   * The Secret that all replicas share; it is created if it does not exist. A Secret with a certificate from
   * another source is refused: `NotOurs`.
   */
  readonly secret: { readonly namespace: string; readonly name: string };
  /** Host names by which the API server connects, such as `webhooks.my-operator.svc`; at least one. */
  readonly dnsNames: readonly string[];
  /** Objects whose `caBundle` is updated. @defaultValue none */
  readonly trustedBy?: TrustTargets | undefined;
  /** Validity of a server certificate, in milliseconds. @defaultValue 90 days */
  readonly validityMs?: number | undefined;
  /**
   * Time before its expiry at which a certificate is replaced, in milliseconds. @defaultValue a third of
   * `validityMs`
   */
  readonly rotateBeforeMs?: number | undefined;
  /** Validity of an authority, in milliseconds. @defaultValue 10 years */
  readonly authorityValidityMs?: number | undefined;
  /** Interval of checking the Secret and the `caBundle`s, in milliseconds. @defaultValue 60_000 */
  readonly intervalMs?: number | undefined;
  /**
   * Time that all of `trustedBy` must trust a new authority before it signs, in milliseconds.
   * @defaultValue 5 minutes
   */
  readonly settleMs?: number | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
}

/**
 * Returns a source of certificates from a generated authority. They are stored in a Secret and rotated before
 * they expire, and the `caBundle` of `trustedBy` is kept up to date. All replicas share the Secret; its
 * resource version ensures that only one of them rotates.
 *
 * The start retries while the API server is unreachable or refuses. If a `caBundle` can't be written, a new
 * authority does not sign before the current certificate has expired.
 *
 * It needs `get`, `create` and `update` on the Secret, and `get` and `patch` on the objects of `trustedBy`.
 * @throws OperatorError `InvalidOption`: `dnsNames` is empty, or the durations do not fit together.
 */
export function generatedCertificates(options: GeneratedCertificatesOptions): CertificateSource {
  const resolved = resolveOptions(options);
  const { secret, trustedBy = {} } = options;
  return {
    access: [...secretAccess(secret), ...trustAccess(trustedBy)],
    start: async (context) => {
      const rotation = new CertificateRotation(resolved, context);
      const { certificate, privateKey } = await rotation.begin();
      return { certificate, privateKey };
    },
  };
}

function resolveOptions(options: GeneratedCertificatesOptions): CertificateRotationOptions {
  const { client, dnsNames, trustedBy = {}, validityMs = 90 * dayMs } = options;
  const { rotateBeforeMs = validityMs / 3, authorityValidityMs = 3650 * dayMs } = options;
  const { intervalMs = 60_000, settleMs = 5 * 60_000, random = systemRandom } = options;
  const refuse = (what: string): never => {
    throw new OperatorError('InvalidOption', `generatedCertificates: ${what}`);
  };
  if (dnsNames.length === 0) refuse('dnsNames is empty: name what the API server connects to');
  if (!(intervalMs >= 1)) refuse(`intervalMs ${intervalMs}: want 1 or more`);
  if (!(rotateBeforeMs > 0 && rotateBeforeMs < validityMs)) {
    refuse(`rotateBeforeMs ${rotateBeforeMs}: want more than 0, less than ${validityMs}`);
  }
  // Otherwise a new authority would be due for replacement at once.
  if (!(authorityValidityMs >= 2 * validityMs + settleMs)) {
    refuse(
      `authorityValidityMs ${authorityValidityMs}: want at least twice validityMs and settleMs`,
    );
  }
  const secret = new CertificateSecret(client, options.secret);
  const resolved = {
    ...{ client, secret, dnsNames, trustedBy, validityMs, rotateBeforeMs, authorityValidityMs },
    ...{ intervalMs, settleMs, random },
  };
  refuseUnknownOptions<GeneratedCertificatesOptions>('generatedCertificates', options, resolved);
  return resolved;
}
