import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { fitTogether, readCertificate, splitBundle } from './x509.js';

/** What the Secret of generated certificates holds, decoded. */
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

/** What is to be done next. */
export type RotationStep =
  /** Nothing of what there is can be used: a new authority and a certificate of it. */
  | { readonly type: 'renewAll'; readonly why: string }
  /** The newest authority ends too soon: one more is trusted, and signs later on. */
  | { readonly type: 'addAuthority'; readonly why: string }
  | { readonly type: 'issue'; readonly why: string }
  /** Authorities whose time is over are trusted no more. */
  | { readonly type: 'dropAuthorities'; readonly authorities: string }
  | { readonly type: 'none' };

/** Certificates are good from a little before they are made: the clocks of servers differ. */
export const skewMs = 5 * 60_000;

/**
 * The next step of a rotation. A new authority is trusted by the API servers before a certificate
 * of it is shown, and the one before as long as certificates of it may be shown:
 *
 * ```text
 * trusted   A ──────── A+B ─────────────── A+B ───────── B
 * shown     a          a  (settleMs)       b             b
 * ```
 */
export function rotationStep(
  state: CertificateState | undefined,
  rules: RotationRules,
  nowMs: number,
): RotationStep {
  if (state === undefined) return { type: 'renewAll', why: 'there is none yet' };
  const bundle = splitBundle(state.authorities);
  const [newest] = bundle;
  const authority = newest === undefined ? undefined : readCertificate(newest);
  if (authority === undefined || !fitTogether(authority, state.authorityKey)) {
    return { type: 'renewAll', why: 'the authority can not be read' };
  }
  if (endMs(authority) <= nowMs) return { type: 'renewAll', why: 'the authority has expired' };
  const shown = readCertificate(state.certificate);
  const lack = shown === undefined ? 'it can not be read' : lackOf(shown, state, rules, nowMs);
  const isSettled = beginMs(authority) + skewMs + rules.settleMs <= nowMs || bundle.length === 1;
  if (isSettled && (lack !== undefined || shown?.checkIssued(authority) !== true)) {
    return { type: 'issue', why: lack ?? 'the authority is a new one' };
  }
  if (isSettled && endMs(authority) - nowMs < rules.validityMs) {
    return { type: 'addAuthority', why: 'the authority ends before a new certificate would' };
  }
  const alive = bundle.filter((each) => isAlive(each, nowMs));
  if (alive.length === bundle.length) return { type: 'none' };
  return { type: 'dropAuthorities', authorities: `${alive.join('\n')}\n` };
}

/** What a certificate lacks; undefined: nothing. */
function lackOf(
  shown: X509Certificate,
  { privateKey }: CertificateState,
  { dnsNames, rotateBeforeMs }: RotationRules,
  nowMs: number,
): string | undefined {
  if (!fitTogether(shown, privateKey)) return 'its key is another';
  const missing = dnsNames.find((name) => !isNamed(shown, name));
  if (missing !== undefined) return `it is not for ${missing}`;
  if (endMs(shown) - nowMs < rotateBeforeMs) return `it ends at ${shown.validTo}`;
  return undefined;
}

function isNamed(shown: X509Certificate, name: string): boolean {
  const found = isIP(name) === 0 ? shown.checkHost(name) : shown.checkIP(name);
  return found !== undefined;
}

function isAlive(pem: string, nowMs: number): boolean {
  const certificate = readCertificate(pem);
  return certificate !== undefined && endMs(certificate) > nowMs;
}

function beginMs({ validFrom }: X509Certificate): number {
  return Date.parse(validFrom);
}

function endMs({ validTo }: X509Certificate): number {
  return Date.parse(validTo);
}
