import type { Client } from '../../client/client.js';
import { isAlreadyExists, isConflict } from '../../object/api-error.js';
import { sleep } from '../../system/clock.js';
import type { Clock } from '../../system/clock.js';
import { OperatorError } from '../../system/operator-error.js';
import { systemRandom } from '../../system/random.js';
import type { Random } from '../../system/random.js';
import { CertificateSecret } from './certificate-secret.js';
import type { StoredCertificates } from './certificate-secret.js';
import type { CertificateContext, CertificateSource } from './certificate-source.js';
import { rotationStep, skewMs } from './rotation-step.js';
import type { CertificateState, RotationRules, RotationStep } from './rotation-step.js';
import { trustAuthorities } from './trust.js';
import type { TrustTargets } from './trust.js';
import { createAuthority, issueCertificate, splitBundle } from './x509.js';
import type { IssueOptions } from './x509.js';

const dayMs = 24 * 60 * 60_000;

/** Options of {@link generatedCertificates}. */
export interface GeneratedCertificatesOptions {
  /** Reads and writes the Secret and the `caBundle`s. */
  readonly client: Client;
  /** The Secret that all replicas share; it is made when there is none. */
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
  /** How long a new authority is trusted before it signs, in milliseconds. @defaultValue 5 minutes */
  readonly settleMs?: number | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
}

interface ResolvedOptions extends RotationRules {
  readonly secret: CertificateSecret;
  readonly client: Client;
  readonly trustedBy: TrustTargets;
  readonly authorityValidityMs: number;
  readonly intervalMs: number;
  readonly random: Random;
}

/**
 * Certificates of an authority of our own, kept in a Secret and rotated before they end; the
 * `caBundle` of those who have to trust them is kept up to date. Replicas share the Secret: each of
 * them may rotate, and its resourceVersion sees to it that one does.
 *
 * It may `get`, `create` and `update` the Secret, and `get` and `patch` the objects of `trustedBy`.
 * @throws OperatorError `InvalidOption`: no name, or durations that don't fit together.
 */
export function generatedCertificates(options: GeneratedCertificatesOptions): CertificateSource {
  const resolved = resolveOptions(options);
  return {
    start: async (context) => {
      const rotation = new Rotation(resolved, context);
      const { certificate, privateKey } = await rotation.begin();
      return { certificate, privateKey };
    },
  };
}

class Rotation {
  readonly #options: ResolvedOptions;
  readonly #context: CertificateContext;

  constructor(options: ResolvedOptions, context: CertificateContext) {
    this.#options = options;
    this.#context = context;
  }

  async begin(): Promise<CertificateState> {
    const first = await this.#settled();
    void this.#follow(first);
    return first;
  }

  async #follow(first: CertificateState): Promise<void> {
    const { clock, signal, logger, onChange } = this.#context;
    let shown = first;
    while (await waited(clock, this.#options.intervalMs, signal)) {
      try {
        const state = await this.#settled();
        if (state.certificate === shown.certificate) continue;
        shown = state;
        logger.info('the certificate was replaced');
        onChange(state);
      } catch (error) {
        if (!signal.aborted) logger.warn('certificates could not be checked', { error });
      }
    }
  }

  /** Takes steps until none is left; then everyone trusts what is to be shown. */
  async #settled(): Promise<CertificateState> {
    const { secret, trustedBy, client } = this.#options;
    const { clock, signal, logger } = this.#context;
    for (;;) {
      const stored = await secret.read(signal);
      const step = rotationStep(stored.state, this.#options, clock.now());
      if (step.type === 'none' && stored.state !== undefined) {
        await trustAuthorities(trustedBy, stored.state.authorities, { client, logger, signal });
        return stored.state;
      }
      await this.#take(step, stored);
    }
  }

  async #take(step: RotationStep, stored: StoredCertificates): Promise<void> {
    const { signal, logger } = this.#context;
    const next = await this.#after(step, stored.state);
    if (next === undefined) return;
    try {
      await this.#options.secret.write(stored, next, signal);
      logger.info(`certificates: ${step.type}`, { why: 'why' in step ? step.why : undefined });
    } catch (error) {
      // Another replica was first: what it wrote is read next.
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    }
  }

  /** What `state` is after `step`. */
  async #after(
    step: RotationStep,
    state: CertificateState | undefined,
  ): Promise<CertificateState | undefined> {
    if (step.type === 'renewAll') {
      const authority = await this.#newAuthority();
      const { certificate: authorities, privateKey: authorityKey } = authority;
      return { authorities, authorityKey, ...(await this.#issue({ authorities, authorityKey })) };
    }
    if (state === undefined) return undefined;
    switch (step.type) {
      case 'addAuthority': {
        const { certificate, privateKey: authorityKey } = await this.#newAuthority();
        return { ...state, authorities: `${certificate}\n${state.authorities}`, authorityKey };
      }
      case 'issue':
        return { ...state, ...(await this.#issue(state)) };
      case 'dropAuthorities':
        return { ...state, authorities: step.authorities };
      case 'none':
        return undefined;
    }
  }

  #newAuthority() {
    return createAuthority(
      'operator-builder webhooks',
      this.#for(this.#options.authorityValidityMs),
    );
  }

  #issue({ authorities, authorityKey }: Pick<CertificateState, 'authorities' | 'authorityKey'>) {
    const { dnsNames, validityMs } = this.#options;
    const [newest = ''] = splitBundle(authorities);
    const authority = { certificate: newest, privateKey: authorityKey };
    return issueCertificate(authority, dnsNames, this.#for(validityMs));
  }

  #for(durationMs: number): IssueOptions {
    const nowMs = this.#context.clock.now();
    const validity = { fromMs: nowMs - skewMs, untilMs: nowMs + durationMs };
    return { validity, random: this.#options.random };
  }
}

async function waited(clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> {
  return sleep(clock, delayMs, signal).then(
    () => true,
    () => false,
  );
}

function resolveOptions(options: GeneratedCertificatesOptions): ResolvedOptions {
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
  return {
    ...{ client, secret, dnsNames, trustedBy, validityMs, rotateBeforeMs, authorityValidityMs },
    ...{ intervalMs, settleMs, random },
  };
}
