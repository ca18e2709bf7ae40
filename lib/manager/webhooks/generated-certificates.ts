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
   * The Secret that all replicas share; it is made when there is none. One that is not ours, but
   * holds a certificate, is refused: `NotOurs`.
   */
  readonly secret: { readonly namespace: string; readonly name: string };
  /** What the API server calls the server, such as `webhooks.my-operator.svc`; at least one. */
  readonly dnsNames: readonly string[];
  /** Who has to trust it. @defaultValue nobody */
  readonly trustedBy?: TrustTargets | undefined;
  /** How long a server certificate is good, in milliseconds. @defaultValue 90 days */
  readonly validityMs?: number | undefined;
  /** How long before its end it is replaced, in milliseconds. @defaultValue a third of `validityMs` */
  readonly rotateBeforeMs?: number | undefined;
  /** How long an authority is good, in milliseconds. @defaultValue 10 years */
  readonly authorityValidityMs?: number | undefined;
  /** How often the Secret and the `caBundle`s are looked at, in milliseconds. @defaultValue 60_000 */
  readonly intervalMs?: number | undefined;
  /**
   * How long a new authority is trusted by all of `trustedBy` before it signs, in milliseconds.
   * @defaultValue 5 minutes
   */
  readonly settleMs?: number | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
}

/**
 * Certificates of an authority of our own, kept in a Secret and rotated before they end; the
 * `caBundle` of those who have to trust them is kept up to date. Replicas share the Secret: each of
 * them may rotate, and its resourceVersion sees to it that one does.
 *
 * As long as the API server can't be reached or refuses, its start waits and tries again. Where a
 * `caBundle` can't be written, a new authority does not sign before what is shown has ended.
 *
 * It may `get`, `create` and `update` the Secret, and `get` and `patch` the objects of `trustedBy`.
 * @throws OperatorError `InvalidOption`: no name, or durations that don't fit together.
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
  // Else a new authority would be old at once.
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
