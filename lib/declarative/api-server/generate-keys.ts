import { access, mkdir, readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '../../system/clock.js';
import { OperatorError } from '../../system/operator-error.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import { systemRandom } from '../../system/random.js';
import { createRsaKeys, createSelfSigned } from '../../system/x509.js';
import { existsAlready, writePrivateFiles } from './private-files.js';
import { verifyingKeys } from './token-key.js';

/** Options of {@link generateKeys}. */
export interface KeyOptions {
  /** Directory of the files. A missing one is created for its owner only (mode 0700). */
  readonly directory: string;
  /**
   * Further host names and addresses of the server; `localhost`, `127.0.0.1` and `::1` are always in the
   * certificate. @defaultValue no further names
   */
  readonly hostNames?: readonly string[] | undefined;
  /** Validity of the certificate in days, at least 1. @defaultValue 365 */
  readonly validForDays?: number | undefined;
  /** Replace existing files; tokens of their keys become invalid. @defaultValue false */
  readonly force?: boolean | undefined;
}

/** The files that {@link generateKeys} writes for a {@link ViewApiServer}. */
export interface KeyFiles {
  /** The certificate of the server, also for the kubeconfigs of its clients. */
  readonly certificate: string;
  /** The private key of the server. */
  readonly privateKey: string;
  /** The key that the server verifies tokens with. */
  readonly tokenKey: string;
  /** The key that signs tokens: only for their issuer; the server does not need it. */
  readonly signingKey: string;
}

const dayMs = 24 * 60 * 60_000;
const hostName = /^(\*\.)?[a-z\d]([-a-z\d.]*[a-z\d])?$/i;
const localNames = ['localhost', '127.0.0.1', '::1'];

/**
 * Creates the keys for HTTPS and tokens, as files that only their owner can read (mode 0600). One RSA key
 * pair of 2,048 bits is for HTTPS, with a self-signed certificate (`tls.crt`, `tls.key`). Another pair is
 * for tokens (`token.pub`, `token.key`), so that the server cannot create tokens.
 *
 * An existing directory keeps its mode.
 * @throws OperatorError `InvalidOption`: an option is out of its range, or a file exists and `force` is
 * not set. No file is written then.
 */
export async function generateKeys(options: KeyOptions): Promise<KeyFiles> {
  const { directory, hostNames = [], validForDays = 365, force = false } = options;
  const names = { directory, hostNames, validForDays, force };
  refuseUnknownOptions<KeyOptions>('keys', options, names);
  if (!(validForDays >= 1 && validForDays <= 36_500)) {
    const message = `keys: want validForDays from 1 to 36500, got ${validForDays}`;
    throw new OperatorError('InvalidOption', message);
  }
  const odd = hostNames.find((name) => isIP(name) === 0 && !hostName.test(name));
  if (odd !== undefined) {
    const message = `keys: ${JSON.stringify(odd)} is no host name and no address`;
    throw new OperatorError('InvalidOption', message);
  }
  const files = keyFilesIn(directory);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (!force) await refuseExisting(Object.values(files));
  const reached = [...new Set([...hostNames, ...localNames])];
  await writePrivateFiles(await newTexts(files, reached, validForDays), { force });
  return files;
}

/**
 * Creates a new pair of token keys in a directory of {@link generateKeys}. The previous public key stays
 * valid beside the new one, earlier ones do not: rotate again only after the last token of the former key has
 * expired. A server that reads the key file picks up the change.
 * @throws OperatorError `InvalidOption`: the key is missing or not readable.
 */
export async function rotateTokenKey(directory: string): Promise<KeyFiles> {
  const files = keyFilesIn(directory);
  const [former] = verifyingKeys(await readKey(files.tokenKey));
  const { publicKey, privateKey } = await createRsaKeys();
  const known = former?.key.export({ type: 'spki', format: 'pem' }) ?? '';
  // The server must have the key before tokens refer to it.
  const texts = new Map([
    [files.tokenKey, `${publicKey}${known.toString()}`],
    [files.signingKey, privateKey],
  ]);
  await writePrivateFiles(texts, { force: true });
  return files;
}

async function readKey(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const message = `${file}: the key of tokens can't be read; make keys before you rotate them`;
    throw new OperatorError('InvalidOption', message, { cause });
  }
}

/** Returns the paths of the files that {@link generateKeys} writes to a directory. */
export function keyFilesIn(directory: string): KeyFiles {
  return {
    certificate: join(directory, 'tls.crt'),
    privateKey: join(directory, 'tls.key'),
    tokenKey: join(directory, 'token.pub'),
    signingKey: join(directory, 'token.key'),
  };
}

async function refuseExisting(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const missing = await access(path).then(
      () => false,
      (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT',
    );
    if (!missing) throw existsAlready(path);
  }
}

async function newTexts(
  files: KeyFiles,
  names: readonly string[],
  validForDays: number,
): Promise<ReadonlyMap<string, string>> {
  const [tls, token] = await Promise.all([createRsaKeys(), createRsaKeys()]);
  const now = systemClock.now();
  // Clocks differ: the certificate must be valid for clients whose clock is behind.
  const validity = { fromMs: now - dayMs, untilMs: now + validForDays * dayMs };
  const { certificate } = await createSelfSigned(names, tls, { validity, random: systemRandom });
  return new Map([
    [files.certificate, `${certificate.trim()}\n`],
    [files.privateKey, tls.privateKey],
    [files.tokenKey, token.publicKey],
    [files.signingKey, token.privateKey],
  ]);
}
