import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { fitTogether, readCertificate, splitBundle } from '../../system/x509.js';

/** Decoded content of the Secret; a missing entry is empty. */
export interface CertificateState {
  /** Trusted authorities in PEM, the newest first. */
  readonly authorities: string;
  /** Key of the newest authority. */
  readonly authorityKey: string;
  readonly certificate: string;
  readonly privateKey: string;
}

/** Rules of the rotation; durations in milliseconds. */
export interface RotationRules {
  readonly dnsNames: readonly string[];
  /** Validity of a server certificate. */
  readonly validityMs: number;
  /** Time before its expiry at which a certificate is replaced. */
  readonly rotateBeforeMs: number;
  /** Time that API servers must trust an authority before it signs. */
  readonly settleMs: number;
}

/** Times that a {@link rotationStep} depends on. */
export interface RotationMoment {
  readonly nowMs: number;
  /** Time since all targets trust the newest authority, in milliseconds; undefined if some do not. */
  readonly trustedForMs: number | undefined;
}

/** The next action of a rotation. */
export type RotationStep =
  /** The state is unusable: create an authority and a certificate. */
  | { readonly type: 'renewAll'; readonly why: string }
  /** The newest authority expires soon or can't sign: add an authority, which signs later. */
  | { readonly type: 'addAuthority'; readonly why: string }
  | {
      readonly type: 'issue';
      readonly why: string;
      /** The names of the certificate, if they differ from the wanted ones. */
      readonly otherNames?: string | undefined;
    }
  /** Removes expired authorities. */
  | { readonly type: 'dropAuthorities'; readonly authorities: string }
  | { readonly type: 'none' };

/** Start of a certificate's validity before its creation, because server clocks differ. */
export const skewMs = 5 * 60_000;

/**
 * Returns the next step of a rotation. API servers trust a new authority before it signs. The previous one
 * stays trusted while its certificates may be in use. If a target does not trust the new authority, the
 * current certificate stays in use while it is valid:
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
  if (state === undefined) return { type: 'renewAll', why: 'no certificate yet' };
  const { nowMs, trustedForMs = -1 } = moment;
  const bundle = splitBundle(state.authorities);
  const shown = readCertificate(state.certificate);
  const isUsable = shown !== undefined && isServed(shown, state, nowMs);
  const authority = readCertificate(bundle[0] ?? '');
  const fault = faultOf(authority, state, nowMs);
  if (authority === undefined || fault !== undefined) {
    // Keep the current certificate: replicas use it until their next check, and clients would reject it if
    // its authority were removed at once.
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

/** Returns the reason why `authority` can't sign; undefined if it can. */
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

/** Returns whether clients accept the certificate: it is valid and issued by a trusted authority. */
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

/** Returns the reason to replace a certificate; undefined if it is still good. */
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

/** Returns whether its issuer's clock is ahead of ours by more than the tolerated skew. */
function isEarly({ validFrom }: X509Certificate, nowMs: number): boolean {
  return Date.parse(validFrom) > nowMs + skewMs;
}

function endMs({ validTo }: X509Certificate): number {
  return Date.parse(validTo);
}
