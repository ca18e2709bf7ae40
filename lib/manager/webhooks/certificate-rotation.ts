import type { Client } from '../../client/client.js';
import { Backoff } from '../../controller/index.js';
import { isAlreadyExists, isConflict } from '../../object/api-error.js';
import { sleep } from '../../system/clock.js';
import { OperatorError, isOperatorError } from '../../system/operator-error.js';
import type { Random } from '../../system/random.js';
import { authorityName } from './certificate-secret.js';
import type { CertificateSecret, StoredCertificates } from './certificate-secret.js';
import type { CertificateContext } from './certificate-source.js';
import { rotationStep, skewMs } from './rotation-step.js';
import type { CertificateState, RotationRules, RotationStep } from './rotation-step.js';
import { trustAuthorities } from './trust.js';
import type { TrustTargets } from './trust.js';
import { waited } from './waited.js';
import {
  createAuthority,
  issueCertificate,
  readCertificate,
  splitBundle,
} from '../../system/x509.js';
import type { IssueOptions } from '../../system/x509.js';
import { errorMessage } from '../../system/as-error.js';

/** Dependencies and rules of a {@link CertificateRotation}. */
export interface CertificateRotationOptions extends RotationRules {
  readonly secret: CertificateSecret;
  readonly client: Client;
  readonly trustedBy: TrustTargets;
  readonly authorityValidityMs: number;
  readonly intervalMs: number;
  readonly random: Random;
}

/** Replicas that start together conflict a few times; more steps mean that another writer interferes. */
const maxSteps = 10;

/** Maximum number of earlier authorities to keep beside a new one. */
const maxEarlier = 3;

const retryDelays = { baseDelayMs: 1_000, maxDelayMs: 30_000 };

/** Rotates the certificates of one Secret and keeps the `caBundle` of all targets up to date. */
export class CertificateRotation {
  readonly #options: CertificateRotationOptions;
  readonly #context: CertificateContext;
  /**
   * Time since all targets trust the newest authority, on this process' monotonic clock. The clock of another
   * replica, or a wall clock that is set, could make it sign too early.
   */
  #trusted: { readonly newest: string; readonly sinceMs: number } | undefined;
  #shown: CertificateState | undefined;

  constructor(options: CertificateRotationOptions, context: CertificateContext) {
    this.#options = options;
    this.#context = context;
  }

  /**
   * Resolves with the first certificate and follows changes until `signal` is aborted. Retries while the API
   * server is unreachable or refuses.
   * @throws OperatorError `NotOurs`: the Secret contains a certificate from another source.
   * @throws the signal's reason, as soon as it is aborted.
   */
  async begin(): Promise<CertificateState> {
    const { clock, signal, logger } = this.#context;
    const backoff = new Backoff(retryDelays);
    for (;;) {
      try {
        const first = await this.#settled();
        this.#shown = first;
        void this.#follow();
        return first;
      } catch (error) {
        signal.throwIfAborted();
        if (isOperatorError(error, 'NotOurs')) throw error;
        const delayMs = backoff.next('');
        const why = errorMessage(error);
        const { title } = this.#options.secret;
        logger.warn(`no certificate yet: ${title}: ${why}; tried again in ${delayMs} ms`, {
          error,
        });
        await sleep(clock, delayMs, signal);
      }
    }
  }

  async #follow(): Promise<void> {
    const { clock, signal, logger, onChange } = this.#context;
    while (await waited(clock, this.#options.intervalMs, signal)) {
      try {
        const state = await this.#settled();
        if (state.certificate === this.#shown?.certificate) continue;
        this.#shown = state;
        logger.info('the certificate was replaced');
        onChange(state);
      } catch (error) {
        if (!signal.aborted) logger.warn('certificates could not be checked', { error });
      }
    }
  }

  /** Takes steps until the rotation is complete; then updates the `caBundle`s. */
  async #settled(): Promise<CertificateState> {
    const { secret } = this.#options;
    const { clock, signal } = this.#context;
    for (let steps = 0; steps < maxSteps; steps++) {
      const stored = await secret.read(signal);
      const { state } = stored;
      const moment = { nowMs: clock.now(), trustedForMs: this.#trustedForMs(state) };
      const step = rotationStep(state, this.#options, moment);
      if (step.type === 'none' && state !== undefined) {
        await this.#tellWhomToTrust(state);
        return state;
      }
      this.#warnOfOthers(step);
      await this.#take(step, stored);
    }
    const message = `${secret.title} is changed all the time (give each operator one of its own)`;
    throw new OperatorError('Timeout', `certificates: ${message}`);
  }

  #trustedForMs(state: CertificateState | undefined): number | undefined {
    const trusted = this.#trusted;
    if (trusted === undefined || newestOf(state) !== trusted.newest) return undefined;
    return this.#context.clock.monotonicMs() - trusted.sinceMs;
  }

  async #tellWhomToTrust(state: CertificateState): Promise<void> {
    const { trustedBy, client } = this.#options;
    const { clock, signal, logger } = this.#context;
    const { authorities } = state;
    const newest = newestOf(state);
    const isTrusted = await trustAuthorities(trustedBy, authorities, { client, logger, signal });
    if (!isTrusted) this.#trusted = undefined;
    else if (this.#trusted?.newest !== newest) {
      this.#trusted = { newest, sinceMs: clock.monotonicMs() };
    }
  }

  /** Warns if another operator replaced the certificate with one for other names. */
  #warnOfOthers(step: RotationStep): void {
    if (step.type !== 'issue' || step.otherNames === undefined || this.#shown === undefined) return;
    const { secret, dnsNames } = this.#options;
    const message = `${secret.title}: another operator has put a certificate for other names there`;
    this.#context.logger.warn(`${message} (give each a Secret of its own, or the same dnsNames)`, {
      ...{ dnsNames, otherNames: step.otherNames },
    });
  }

  async #take(step: RotationStep, stored: StoredCertificates): Promise<void> {
    const { signal, logger } = this.#context;
    const next = await this.#after(step, stored.state);
    if (next === undefined) return;
    try {
      await this.#options.secret.write(stored, next, signal);
      logger.info(`certificates: ${step.type}`, { why: 'why' in step ? step.why : undefined });
    } catch (error) {
      // Another replica wrote first; its state is read next.
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    }
  }

  /** Returns the state after `step`. */
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
        const authorities = `${certificate}\n${stillTrusted(state).join('\n')}\n`;
        return { ...state, authorities, authorityKey };
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
    return createAuthority(authorityName, this.#for(this.#options.authorityValidityMs));
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

/**
 * Returns the authorities to keep beside a new one: the most recent ones, and the issuer of the current
 * certificate. The limit keeps a repeatedly damaged Secret from growing.
 */
function stillTrusted({ authorities, certificate }: CertificateState): readonly string[] {
  const shown = readCertificate(certificate);
  const isOfShown = (pem: string): boolean => {
    const authority = readCertificate(pem);
    return authority !== undefined && shown?.checkIssued(authority) === true;
  };
  return splitBundle(authorities).filter((pem, nth) => nth < maxEarlier || isOfShown(pem));
}

function newestOf(state: CertificateState | undefined): string {
  return splitBundle(state?.authorities ?? '')[0] ?? '';
}
