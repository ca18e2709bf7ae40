import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { fitTogether, readCertificate, splitBundle } from '../../system/x509.js';

/** What the Secret of generated certificates holds, decoded; an entry that is missing is empty. */
export interface CertificateState {
  /** The authorities that are trusted, in PEM, the newest first. */
  readonly authorities: string;
  /** The key of the newest authority. */
  readonly authorityKey: string;
  readonly certificate: string;
  readonly privateKey: string;
}

/** When certificates are replaced; durations in milliseconds. */
export interface RotationRules {
  readonly dnsNames: readonly string[];
  /** How long a server certificate is good. */
  readonly validityMs: number;
  /** How long before its end it is replaced. */
  readonly rotateBeforeMs: number;
  /** How long an authority is known to API servers before something is signed by it. */
  readonly settleMs: number;
}

/** When a {@link rotationStep} is asked for. */
export interface RotationMoment {
  readonly nowMs: number;
  /** For how long everyone is known to trust the newest authority; undefined: not everyone does. */
  readonly trustedForMs: number | undefined;
}

/** What is to be done next. */
export type RotationStep =
  /** Nothing of what there is can be used: a new authority and a certificate of it. */
  | { readonly type: 'renewAll'; readonly why: string }
  /** The newest authority ends too soon, or can't sign: one more is trusted, and signs later on. */
  | { readonly type: 'addAuthority'; readonly why: string }
  | {
      readonly type: 'issue';
      readonly why: string;
      /** The names that it has, where they are not those that are wanted. */
      readonly otherNames?: string | undefined;
    }
  /** Authorities whose time is over are trusted no more. */
  | { readonly type: 'dropAuthorities'; readonly authorities: string }
  | { readonly type: 'none' };

/** Certificates are good from a little before they are made: the clocks of servers differ. */
export const skewMs = 5 * 60_000;

/**
 * The next step of a rotation. A new authority is trusted by the API servers before a certificate
 * of it is shown, and the one before as long as certificates of it may be shown. Where somebody
 * does not trust the new one, what is shown stays, for as long as it is good:
 *
 * ```text
 * trusted   A ──────── A+B ─────────────── A+B ───────── B
 * shown     a          a  (settleMs)       b             b
 * ```
 */
export function rotationStep(
  state: CertificateState | undefined,
  rules: RotationRules,
  moment: RotationMoment,
): RotationStep {
  if (state === undefined) return { type: 'renewAll', why: 'there is none yet' };
  const { nowMs, trustedForMs = -1 } = moment;
  const bundle = splitBundle(state.authorities);
  const shown = readCertificate(state.certificate);
  const isUsable = shown !== undefined && isServed(shown, state, nowMs);
  const authority = readCertificate(bundle[0] ?? '');
  const fault = faultOf(authority, state, nowMs);
  if (authority === undefined || fault !== undefined) {
    // What is shown may stay: replicas go on to show it until they look again, and nobody would trust
    // it any more if its authority went at once.
    return { type: isUsable ? 'addAuthority' : 'renewAll', why: fault ?? '' };
  }
  const isOfNewest = shown?.checkIssued(authority) === true;
  const isSettled = !isUsable || isOfNewest || trustedForMs >= rules.settleMs;
  const lack = lackOf(shown, { state, rules, nowMs });
  if (isSettled && (lack !== undefined || !isOfNewest)) {
    return { type: 'issue', ...(lack ?? { why: 'the authority is a new one' }) };
  }
  if (isSettled && endMs(authority) - nowMs < rules.validityMs) {
    return { type: 'addAuthority', why: 'the authority ends before a new certificate would' };
  }
  const good = bundle.filter((each) => isGood(readCertificate(each), nowMs));
  if (good.length === bundle.length) return { type: 'none' };
  return { type: 'dropAuthorities', authorities: `${good.join('\n')}\n` };
}

/** Why nothing can be signed by `authority`; undefined: it can. */
function faultOf(
  authority: X509Certificate | undefined,
  { authorityKey }: CertificateState,
  nowMs: number,
): string | undefined {
  if (authority === undefined || !fitTogether(authority, authorityKey)) {
    return 'the authority can not be read';
  }
  if (endMs(authority) <= nowMs) return 'the authority has expired';
  if (isEarly(authority, nowMs)) return `the authority is not valid before ${authority.validFrom}`;
  return undefined;
}

/** Whether clients accept what is shown: it is good, and of an authority that they may trust. */
function isServed(
  shown: X509Certificate,
  { authorities, privateKey }: CertificateState,
  nowMs: number,
): boolean {
  if (!isGood(shown, nowMs) || !fitTogether(shown, privateKey)) return false;
  return splitBundle(authorities).some((pem) => {
    const authority = readCertificate(pem);
    return isGood(authority, nowMs) && shown.checkIssued(authority);
  });
}

interface Judged {
  readonly state: CertificateState;
  readonly rules: RotationRules;
  readonly nowMs: number;
}

/** What a certificate lacks; undefined: nothing. */
function lackOf(
  shown: X509Certificate | undefined,
  { state: { privateKey }, rules: { dnsNames, rotateBeforeMs }, nowMs }: Judged,
): { readonly why: string; readonly otherNames?: string } | undefined {
  if (shown === undefined) return { why: 'it can not be read' };
  if (!fitTogether(shown, privateKey)) return { why: 'its key is another' };
  const missing = dnsNames.find((name) => !isNamed(shown, name));
  if (missing !== undefined) {
    return { why: `it is not for ${missing}`, otherNames: shown.subjectAltName ?? 'no name' };
  }
  if (endMs(shown) - nowMs < rotateBeforeMs) return { why: `it ends at ${shown.validTo}` };
  if (isEarly(shown, nowMs)) return { why: `it is not valid before ${shown.validFrom}` };
  return undefined;
}

function isNamed(shown: X509Certificate, name: string): boolean {
  const found = isIP(name) === 0 ? shown.checkHost(name) : shown.checkIP(name);
  return found !== undefined;
}

function isGood(
  certificate: X509Certificate | undefined,
  nowMs: number,
): certificate is X509Certificate {
  return certificate !== undefined && endMs(certificate) > nowMs && !isEarly(certificate, nowMs);
}

/** Whether it was made by a clock that is ahead of ours by more than clocks may differ. */
function isEarly({ validFrom }: X509Certificate, nowMs: number): boolean {
  return Date.parse(validFrom) > nowMs + skewMs;
}

function endMs({ validTo }: X509Certificate): number {
  return Date.parse(validTo);
}
