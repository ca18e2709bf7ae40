import { access, mkdir, readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '../../system/clock.js';
import { OperatorError } from '../../system/operator-error.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import { systemRandom } from '../../system/random.js';
import { createRsaKeys } from '../../system/rsa-keys.js';
import { createSelfSigned } from '../../system/x509.js';
import { existsAlready, writePrivateFiles } from './private-files.js';
import { verifyingKeys } from './token-key.js';

/** Options of {@link generateKeys}. */
export interface KeyOptions {
  /** Where the files go. It is made, for its owner only (mode 0700), where it is not there. */
  readonly directory: string;
  /**
   * The names and addresses that clients reach the server by, beside `localhost`, `127.0.0.1` and
   * `::1`, which are always in the certificate. @defaultValue none
   */
  readonly hostNames?: readonly string[] | undefined;
  /** How long the certificate is good, in days, at least 1. @defaultValue 365 */
  readonly validForDays?: number | undefined;
  /** Replace files that are there. Tokens of their keys are no good any more. @defaultValue false */
  readonly force?: boolean | undefined;
}

/** Where {@link generateKeys} put what a {@link ViewApiServer} needs. */
export interface KeyFiles {
  /** The certificate of the server: for it, and for the kubeconfigs of its clients. */
  readonly certificate: string;
  /** The private key of the server. */
  readonly privateKey: string;
  /** What tokens are checked by: for the server. */
  readonly tokenKey: string;
  /** What tokens are made with: for nobody but who makes them; the server does not need it. */
  readonly signingKey: string;
}

const dayMs = 24 * 60 * 60_000;
const hostName = /^(\*\.)?[a-z\d]([-a-z\d.]*[a-z\d])?$/i;
const localNames = ['localhost', '127.0.0.1', '::1'];

/**
 * Makes what HTTPS and tokens take, as files that only their owner can read (mode 0600): RSA keys of
 * 2,048 bits, one pair for HTTPS with a certificate that signs itself (`tls.crt`, `tls.key`), and
 * another one for tokens (`token.pub`, `token.key`), so that the server can't make tokens.
 *
 * The directory keeps its mode if it is there.
 * @throws OperatorError `InvalidOption`: an option is out of its range, or a file is there, and `force`
 * is not given. Nothing is written then.
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
 * Makes a new pair of keys for tokens in a directory of {@link generateKeys}. The public key of before
 * stays good beside the new one, those before it do not: rotate again once the last token of the former
 * key has expired. A server that reads the file of keys follows by itself.
 * @throws OperatorError `InvalidOption`: there is no key, or it can't be read.
 */
export async function rotateTokenKey(directory: string): Promise<KeyFiles> {
  const files = keyFilesIn(directory);
  const [former] = verifyingKeys(await readKey(files.tokenKey));
  const { publicKey, privateKey } = await createRsaKeys();
  const known = former?.key.export({ type: 'spki', format: 'pem' }) ?? '';
  // The server has to know the key before tokens name it.
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

/** The paths of the files that {@link generateKeys} puts into a directory. */
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
  // Clocks differ: good for somebody whose clock is behind, too.
  const validity = { fromMs: now - dayMs, untilMs: now + validForDays * dayMs };
  const { certificate } = await createSelfSigned(names, tls, { validity, random: systemRandom });
  return new Map([
    [files.certificate, `${certificate.trim()}\n`],
    [files.privateKey, tls.privateKey],
    [files.tokenKey, token.publicKey],
    [files.signingKey, token.privateKey],
  ]);
}
