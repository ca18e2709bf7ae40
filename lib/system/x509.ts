import {
  X509Certificate,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  webcrypto,
} from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import type * as X509 from '@peculiar/x509';
import type { Random } from './random.js';

/** A certificate and its key, in PEM. */
export interface CertificateAndKey {
  readonly certificate: string;
  readonly privateKey: string;
}

/** A certificate authority that this package creates. */
export type Authority = CertificateAndKey;

/** The validity period of a certificate, in milliseconds since 1970. */
interface Validity {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The properties of a certificate other than its names. */
export interface IssueOptions {
  readonly validity: Validity;
  readonly random: Random;
}

/** The subject of a client certificate: a user and its groups. */
export interface ClientSubject {
  readonly user: string;
  readonly groups: readonly string[];
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const rsaAlgorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };

// Loaded on demand: most processes create no certificates.
async function load(): Promise<typeof X509> {
  // `@peculiar/x509` needs this polyfill when it is imported, for its dependency injection.
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

/** Creates a certificate authority called `name`. */
export async function createAuthority(name: string, options: IssueOptions): Promise<Authority> {
  const x509 = await load();
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...commonOf(`CN=${name}`, options),
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: certificate.toString('pem'), privateKey: await pemOf(keys.privateKey) };
}

/**
 * Creates a server certificate for `names` (host names and addresses; the first is its subject), signed by
 * its own RSA key. Clients must trust the certificate itself.
 */
export async function createSelfSigned(
  names: readonly string[],
  { publicKey, privateKey }: RsaKeys,
  options: IssueOptions,
): Promise<CertificateAndKey> {
  const x509 = await load();
  const { subject: name, ...common } = commonOf([{ CN: [names[0] ?? ''] }], options);
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' });
  const keys = {
    publicKey: await webcrypto.subtle.importKey('spki', der, rsaAlgorithm, true, ['verify']),
    privateKey: await importSigningKey(privateKey, rsaAlgorithm),
  };
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...common,
    name,
    signingAlgorithm: rsaAlgorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment,
        true,
      ),
      ...servingExtensions(x509, names),
    ],
  });
  return { certificate: certificate.toString('pem'), privateKey };
}

/** Creates a server certificate for `dnsNames` (the first is its subject), signed by `authority`. */
export async function issueCertificate(
  authority: Authority,
  dnsNames: readonly string[],
  options: IssueOptions,
): Promise<CertificateAndKey> {
  const x509 = await load();
  return issue(authority, options, {
    subject: [{ CN: [dnsNames[0] ?? ''] }],
    extensions: servingExtensions(x509, dnsNames),
  });
}

function servingExtensions(x509: typeof X509, names: readonly string[]): X509.Extension[] {
  const typed = names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }) as const);
  return [
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension(typed),
  ];
}

/** Creates a client certificate in the form that API servers read: the user is CN, its groups are O. */
export async function issueClientCertificate(
  authority: Authority,
  { user, groups }: ClientSubject,
  options: IssueOptions,
): Promise<CertificateAndKey> {
  const x509 = await load();
  const organizations = groups.map((group) => ({ O: [group] }));
  return issue(authority, options, {
    subject: [...organizations, { CN: [user] }],
    extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])],
  });
}

interface Holder {
  readonly subject: X509.JsonName;
  readonly extensions: readonly X509.Extension[];
}

async function issue(
  authority: Authority,
  options: IssueOptions,
  { subject, extensions }: Holder,
): Promise<CertificateAndKey> {
  const x509 = await load();
  const issuer = new x509.X509Certificate(authority.certificate);
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    ...commonOf(subject, options),
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey: await signingKeyOf(authority),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      ...extensions,
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { certificate: certificate.toString('pem'), privateKey: await pemOf(keys.privateKey) };
}

/** Parses a certificate; undefined if it is invalid. */
export function readCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined; // Invalid: the caller creates a new certificate.
  }
}

/** Whether `privateKey` belongs to `certificate`. */
export function fitTogether(certificate: X509Certificate, privateKey: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(privateKey));
  } catch {
    return false; // The key is invalid.
  }
}

/** Returns the certificates of a PEM bundle, one text each. */
export function splitBundle(bundle: string): readonly string[] {
  return bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

function commonOf(subject: string | X509.JsonName, { validity, random }: IssueOptions) {
  return {
    subject,
    serialNumber: random.uuid().replaceAll('-', ''),
    notBefore: new Date(validity.fromMs),
    notAfter: new Date(validity.untilMs),
    signingAlgorithm: algorithm,
  };
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
}

async function signingKeyOf({ privateKey }: Authority): Promise<webcrypto.CryptoKey> {
  return importSigningKey(privateKey, algorithm);
}

async function importSigningKey(
  privateKey: string,
  own: { readonly name: string },
): Promise<webcrypto.CryptoKey> {
  const bytes = createPrivateKey(privateKey).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', bytes, own, false, ['sign']);
}

/** An RSA key pair, in PEM (PKCS #8 and SubjectPublicKeyInfo). */
export interface RsaKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** Creates an RSA key pair of 2,048 bits. Takes some tenths of a second, off the main thread. */
export async function createRsaKeys(): Promise<RsaKeys> {
  return promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}
