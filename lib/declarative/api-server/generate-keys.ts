import {
  access,
  constants,
  copyFile,
  mkdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { kubeConfigText } from '../../apiserver/internal.js';
import {
  systemClock,
  refuseUnknownOptions,
  OperatorError,
  systemRandom,
  createRsaKeys,
  createSelfSigned,
  readCertificate,
} from '../../system/index.js';
import { verifyingKeys } from './tokens.js';

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
  /** The key that signs tokens. Only the issuer of tokens needs it; the server does not. */
  readonly signingKey: string;
}

const dayMs = 24 * 60 * 60_000;
const hostName = /^(\*\.)?[a-z\d]([-a-z\d.]*[a-z\d])?$/i;
const localNames = ['localhost', '127.0.0.1', '::1'];

/**
 * Creates the keys for HTTPS and tokens, as files that only their owner can read (mode 0600). One RSA key pair of
 * 2,048 bits is for HTTPS, with a self-signed certificate (`tls.crt`, `tls.key`). A second pair is for tokens:
 * `token.key` signs them, and `token.pub` verifies them. The server gets only `token.pub`, so it cannot create tokens.
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
    const message = `keys: want a host name or an address, got ${JSON.stringify(odd)}`;
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
 * Creates a new pair of token keys in a directory of {@link generateKeys}. The previous public key stays valid in
 * addition to the new one; all earlier keys become invalid. So rotate again only after the last token of the
 * previous key has expired. A server that reads the key file picks up the change.
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
    const message = `${file}: the key of tokens can't be read; create keys before you rotate them`;
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

/** Options of {@link viewKubeConfig}. */
export interface ViewKubeConfigOptions {
  /** URL of the server: `https://…`, or `http://…` without certificate and token. */
  readonly server: string;
  /**
   * The certificate of the server in PEM.
   * @defaultValue undefined: HTTP, or a publicly trusted certificate
   */
  readonly certificate?: string | undefined;
  /** A token of `createToken`. @defaultValue undefined: no token, as for HTTP */
  readonly token?: string | undefined;
  /** Name of the user in the file. @defaultValue 'views' */
  readonly user?: string | undefined;
  /** Default namespace of commands. @defaultValue undefined: `default` */
  readonly namespace?: string | undefined;
}

/**
 * Returns a kubeconfig for kubectl, as YAML. It contains the token and so is a secret.
 * @throws OperatorError `InvalidOption`: the server is not a URL, a token would be sent over plain HTTP,
 * or the certificate is invalid.
 */
export function viewKubeConfig(options: ViewKubeConfigOptions): string {
  const { server, certificate, token, user = 'views', namespace } = options;
  const names = { server, certificate, token, user, namespace };
  refuseUnknownOptions<ViewKubeConfigOptions>('kubeconfig of views', options, names);
  const { protocol } = URL.canParse(server) ? new URL(server) : { protocol: '' };
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw wrong(`server: want an https:// or http:// URL, got ${JSON.stringify(server)}`);
  }
  if (protocol === 'http:' && token !== undefined) {
    throw wrong('a token must not go over plain HTTP: use https://, or leave the token out');
  }
  if (certificate !== undefined && readCertificate(certificate) === undefined) {
    throw wrong('invalid certificate; want PEM');
  }
  return kubeConfigText({
    url: server,
    authority: certificate,
    user: token === undefined ? undefined : user,
    users: token === undefined ? {} : { [token]: user },
    cluster: 'views',
    namespace,
  });
}

/**
 * Writes {@link viewKubeConfig} to a file that only its owner can read (mode 0600).
 * @param options - `force`: replace an existing file.
 * @defaultValue false
 * @throws OperatorError `InvalidOption`: as `viewKubeConfig`, or the file exists and `force` is not set.
 */
export async function writeViewKubeConfig(
  path: string,
  options: ViewKubeConfigOptions & { readonly force?: boolean | undefined },
): Promise<void> {
  const { force = false, ...of } = options;
  await writePrivateFiles(new Map([[path, viewKubeConfig(of)]]), { force });
}

function wrong(what: string): OperatorError {
  return new OperatorError('InvalidOption', `kubeconfig of views: ${what}`);
}

/** Readable and writable for the owner only. */
const mode = 0o600;

/**
 * Writes files that only their owner can read. Drafts of all files are written first, so that a full disk
 * changes nothing.
 * @param texts - the texts by path
 * @param options - `force`: replace existing files; a link is replaced, not followed.
 * @throws OperatorError `InvalidOption`: a file exists and `force` is not set.
 */
export async function writePrivateFiles(
  texts: ReadonlyMap<string, string>,
  { force }: { readonly force: boolean },
): Promise<void> {
  const drafts = [...texts].map(([path, text]) => ({
    ...{ path, text },
    draft: `${path}.${systemRandom.uuid()}`,
  }));
  try {
    // Fail if the draft exists: the mode applies to new files only.
    for (const { draft, text } of drafts) await writeFile(draft, text, { mode, flag: 'wx' });
    for (const { draft, path } of drafts) {
      await (force ? rename(draft, path) : placeNew(draft, path));
    }
  } finally {
    await Promise.all(drafts.map(({ draft }) => rm(draft, { force: true })));
  }
}

/** Returns the error for a file that must not be overwritten. */
function existsAlready(path: string, cause?: unknown): OperatorError {
  const message = `${path} exists already: give force (--force) to replace it`;
  return new OperatorError('InvalidOption', message, { cause });
}

async function placeNew(draft: string, path: string): Promise<void> {
  try {
    await copyFile(draft, path, constants.COPYFILE_EXCL);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw existsAlready(path, cause);
    throw cause;
  }
}
