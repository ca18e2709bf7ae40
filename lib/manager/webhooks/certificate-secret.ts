import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { Client } from '../../client/index.js';
import { getIfExists } from '../../client/index.js';
import { Secret } from '../../object/index.js';
import type { ObjectKey } from '../../object/index.js';
import { OperatorError, fitTogether, readCertificate, splitBundle } from '../../system/index.js';
import type { Resolved } from '../../system/index.js';
import type { GeneratedCertificatesOptions } from './generated-certificates.js';
import type { RequiredAccess } from '../access/required-access.js';

/** Keys of the Secret's data; the first two are those of type `kubernetes.io/tls`. */
const entries = {
  certificate: 'tls.crt',
  privateKey: 'tls.key',
  authorities: 'ca.crt',
  authorityKey: 'ca.key',
} as const;

/** Marks a Secret whose certificates this package generated and may replace. */
const generatedAnnotation = 'operator-builder.io/generated-certificates';

/** Subject of generated authorities; it also identifies a Secret as generated. */
export const authorityName = 'operator-builder webhooks';

export interface StoredCertificates {
  /** Undefined if the Secret does not exist. */
  readonly secret: Secret | undefined;
  /** Undefined if the Secret is empty. */
  readonly state: CertificateState | undefined;
}

/** The Secret through which the replicas of an operator share their certificates. */
export class CertificateSecret {
  readonly #client: Client;
  readonly #key: ObjectKey;

  constructor(client: Client, key: ObjectKey) {
    this.#client = client;
    this.#key = key;
  }

  /** Name of the Secret, for messages. */
  get title(): string {
    const { namespace = '', name } = this.#key;
    return `Secret ${namespace}/${name}`;
  }

  /** @throws OperatorError `NotOurs`: the Secret contains a certificate from another source. */
  async read(signal: AbortSignal): Promise<StoredCertificates> {
    const secret = await getIfExists(this.#client, Secret, this.#key, { signal });
    if (secret !== undefined && isForeign(secret)) throw notOurs(this.title);
    return { secret, state: secret && stateOf(secret) };
  }

  /**
   * Replaces `stored` with `state`.
   * @throws ApiError `Conflict` or `AlreadyExists`: another replica wrote first.
   */
  async write(
    { secret }: StoredCertificates,
    state: CertificateState,
    signal: AbortSignal,
  ): Promise<void> {
    const data = { ...secret?.data, ...encode(state) };
    if (secret === undefined) {
      const { namespace, name } = this.#key;
      const metadata = { ...(namespace !== undefined && { namespace }), name, annotations: mark };
      const type = 'kubernetes.io/tls';
      await this.#client.create<Secret>(
        { apiVersion: 'v1', kind: 'Secret', metadata, type, data },
        { signal },
      );
      return;
    }
    // Keeps the resource version, so that a concurrent write causes a conflict.
    const annotations = { ...secret.metadata.annotations, ...mark };
    const metadata = { ...secret.metadata, annotations };
    await this.#client.update<Secret>({ ...secret, metadata, data }, { signal });
  }
}

/** Returns the access that {@link CertificateSecret} needs. */
export function secretAccess({ namespace, name }: ObjectKey): readonly RequiredAccess[] {
  return [
    { type: Secret, namespace, names: [name], verbs: ['get', 'update'] },
    // RBAC cannot restrict `create` by name.
    { type: Secret, namespace, verbs: ['create'] },
  ];
}

const mark = { [generatedAnnotation]: 'true' };

/**
 * Returns whether the Secret holds a key from another source, which a write would destroy. An empty Secret
 * may be filled.
 */
function isForeign({ metadata, data = {} }: Secret): boolean {
  if (metadata.annotations?.[generatedAnnotation] !== undefined) return false;
  const authority = readCertificate(textOf(data[entries.authorities]));
  if (authority?.subject === `CN=${authorityName}`) return false;
  return Object.values(entries).some((name) => (data[name] ?? '') !== '');
}

function notOurs(title: string): OperatorError {
  const holds = 'it holds a certificate from another source, whose key would be lost';
  const remedy = 'name another Secret, serve this one with certificateFiles, or delete it';
  return new OperatorError('NotOurs', `generatedCertificates: ${title}: ${holds} (${remedy})`);
}

function stateOf({ data = {} }: Secret): CertificateState | undefined {
  const texts = Object.entries(entries).map(
    ([name, entry]) => [name, textOf(data[entry])] as const,
  );
  if (texts.every(([, text]) => text === '')) return undefined;
  return Object.fromEntries(texts) as unknown as CertificateState;
}

function textOf(base64 = ''): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}

function encode(state: CertificateState): Record<string, string> {
  const names = Object.keys(entries) as (keyof CertificateState)[];
  return Object.fromEntries(
    names.map((name) => [entries[name], Buffer.from(state[name]).toString('base64')]),
  );
}

/** Decoded content of the Secret; a missing entry is empty. */
export interface CertificateState {
  /** Trusted authorities in PEM, the newest first. */
  readonly authorities: string;
  /** Key of the newest authority. */
  readonly authorityKey: string;
  readonly certificate: string;
  readonly privateKey: string;
}

type RotationRules = Pick<
  Resolved<GeneratedCertificatesOptions>,
  'dnsNames' | 'validityMs' | 'rotateBeforeMs' | 'settleMs'
>;

/** Times that a {@link rotationStep} depends on. */
interface RotationMoment {
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

/** A certificate is valid from this long before its creation, because the clocks of servers differ. */
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
  const { nowMs, trustedForMs = -Infinity } = moment;
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
  const lack = lackOf(shown, state, rules, nowMs);
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
    return "the authority can't be read";
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

/** Returns the reason to replace a certificate; undefined if it is still good. */
function lackOf(
  shown: X509Certificate | undefined,
  { privateKey }: CertificateState,
  { dnsNames, rotateBeforeMs }: RotationRules,
  nowMs: number,
): { readonly why: string; readonly otherNames?: string } | undefined {
  if (shown === undefined) return { why: "it can't be read" };
  if (!fitTogether(shown, privateKey)) return { why: 'its key does not match' };
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

/**
 * Returns whether the certificate is not valid yet even with the tolerated clock skew. The clock of the
 * replica that issued it is ahead.
 */
function isEarly({ validFrom }: X509Certificate, nowMs: number): boolean {
  return Date.parse(validFrom) > nowMs + skewMs;
}

function endMs({ validTo }: X509Certificate): number {
  return Date.parse(validTo);
}
