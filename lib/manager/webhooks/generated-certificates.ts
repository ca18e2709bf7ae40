import type { Client } from '../../client/index.js';
import { Backoff } from '../../controller/index.js';
import { isAlreadyExists, isConflict } from '../../object/index.js';
import {
  errorMessage,
  sleep,
  waited,
  refuseNonNumbers,
  refuseUnknownOptions,
  OperatorError,
  isOperatorError,
  systemRandom,
  createAuthority,
  issueCertificate,
  readCertificate,
  splitBundle,
} from '../../system/index.js';
import type { Random, IssueOptions, Resolved } from '../../system/index.js';
import {
  CertificateSecret,
  authorityName,
  secretAccess,
  rotationStep,
  skewMs,
} from './certificate-secret.js';
import type { StoredCertificates, CertificateState, RotationStep } from './certificate-secret.js';
import type { CertificateContext, CertificateSource } from './certificate-source.js';
import { trustAccess, trustAuthorities } from './trust.js';
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
   * Time for which all of `trustedBy` must trust a new authority before the authority signs, in milliseconds.
   * @defaultValue 5 minutes
   */
  readonly settleMs?: number | undefined;
  /** Draws the serial numbers of certificates. @defaultValue the system's random source */
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
  const times = { validityMs, rotateBeforeMs, authorityValidityMs, intervalMs, settleMs };
  refuseNonNumbers('generatedCertificates', times);
  if (dnsNames.length === 0)
    refuse('dnsNames must not be empty; give the host names that the API server connects to');
  if (!(intervalMs >= 1)) refuse(`intervalMs ${intervalMs}: want 1 or more`);
  if (!(rotateBeforeMs > 0 && rotateBeforeMs < validityMs)) {
    refuse(
      `rotateBeforeMs ${rotateBeforeMs}: want more than 0, and less than validityMs (${validityMs})`,
    );
  }
  // Otherwise a new authority would be due for replacement at once.
  if (!(authorityValidityMs >= 2 * validityMs + settleMs)) {
    refuse(`authorityValidityMs ${authorityValidityMs}: want at least 2 * validityMs + settleMs`);
  }
  const secret = new CertificateSecret(client, options.secret);
  const resolved = {
    ...{ client, secret, dnsNames, trustedBy, ...times, random },
  };
  refuseUnknownOptions<GeneratedCertificatesOptions>('generatedCertificates', options, resolved);
  return resolved;
}

/** Log messages of the steps of a rotation. */
const storedTexts: Readonly<Record<RotationStep['type'], string>> = {
  renewAll: 'a new authority and a new certificate were stored',
  addAuthority: 'a further authority was stored',
  issue: 'a new certificate was stored',
  dropAuthorities: 'expired or unusable authorities were removed',
  none: 'nothing was changed',
};

/** Dependencies and rules of a {@link CertificateRotation}. */
interface CertificateRotationOptions extends Resolved<
  Omit<GeneratedCertificatesOptions, 'secret'>
> {
  readonly secret: CertificateSecret;
}

/** Replicas that start together conflict a few times; more steps mean that another writer interferes. */
const maxSteps = 10;

/** Maximum number of earlier authorities to keep when a new one is added. */
const maxEarlier = 3;

const retryDelays = { baseDelayMs: 1_000, maxDelayMs: 30_000 };

/** Rotates the certificates of one Secret and keeps the `caBundle` of all targets up to date. */
class CertificateRotation {
  readonly #options: CertificateRotationOptions;
  readonly #context: CertificateContext;
  /**
   * Time since all targets trust the newest authority, on this process's monotonic clock. The clock of another replica,
   * or a wall clock that is set, could make the authority sign too early.
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
    const { signal } = this.#context;
    for (let steps = 0; steps < maxSteps; steps++) {
      const stored = await secret.read(signal);
      const { step, state } = this.#next(stored.state);
      if (step.type === 'none' && state !== undefined) {
        await this.#publishAuthorities(state);
        return state;
      }
      this.#warnOfOthers(step);
      const next = await this.#after(step, state);
      if (next !== undefined) await this.#store(next, stored, step);
    }
    const message = `${secret.title} is changed all the time (give each operator one of its own)`;
    throw new OperatorError('Timeout', `certificates: ${message}`);
  }

  /**
   * Returns the next step, and the state that it changes. If the Secret was deleted or emptied, the step changes the
   * state in use: other replicas present its certificate until their next check, so it must stay trusted.
   */
  #next(stored: CertificateState | undefined): {
    readonly step: RotationStep;
    readonly state: CertificateState | undefined;
  } {
    const step = this.#stepOf(stored);
    const [state, shown] = [stored, this.#shown];
    if (step.type !== 'renewAll' || shown === undefined) return { step, state };
    if (this.#stepOf(shown).type === 'renewAll') return { step, state };
    return { step: { type: 'addAuthority', why: step.why }, state: shown };
  }

  #stepOf(state: CertificateState | undefined): RotationStep {
    const moment = { nowMs: this.#context.clock.now(), trustedForMs: this.#trustedForMs(state) };
    return rotationStep(state, this.#options, moment);
  }

  #trustedForMs(state: CertificateState | undefined): number | undefined {
    const trusted = this.#trusted;
    if (trusted === undefined || newestOf(state) !== trusted.newest) return undefined;
    return this.#context.clock.monotonicMs() - trusted.sinceMs;
  }

  async #publishAuthorities(state: CertificateState): Promise<void> {
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

  async #store(
    next: CertificateState,
    stored: StoredCertificates,
    step: RotationStep,
  ): Promise<void> {
    const { signal, logger } = this.#context;
    try {
      await this.#options.secret.write(stored, next, signal);
      const what = `${this.#options.secret.title}: ${storedTexts[step.type]}`;
      logger.info(what, { why: 'why' in step ? step.why : undefined });
    } catch (error) {
      // Another replica wrote first; its state is read next.
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    }
  }

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
 * Returns the authorities to keep when a new one is added: the most recent ones, and the issuer of the current
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
