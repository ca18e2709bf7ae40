import { keyFilesIn } from '../../../declarative/api-server/index.js';
import { readText } from '../../read-text.js';

/** What an API server of views needs of a directory that `declarative keys` made. */
export interface ServerKeys {
  readonly tls: { readonly certificate: string; readonly privateKey: string };
  readonly tokenKey: string;
  /** Where `tokenKey` is from: it is read again as it changes. */
  readonly tokenKeyFile: string;
}

/** @throws OperatorError `InvalidConfig`: a file can't be read */
export async function readServerKeys(directory: string): Promise<ServerKeys> {
  const files = keyFilesIn(directory);
  const tls = {
    certificate: await readText(files.certificate),
    privateKey: await readText(files.privateKey),
  };
  return { tls, tokenKey: await readText(files.tokenKey), tokenKeyFile: files.tokenKey };
}

/** What who makes tokens needs of such a directory. */
export interface SigningKeys {
  readonly certificate: string;
  readonly signingKey: string;
}

/** @throws OperatorError `InvalidConfig`: a file can't be read */
export async function readSigningKeys(directory: string): Promise<SigningKeys> {
  const files = keyFilesIn(directory);
  return {
    certificate: await readText(files.certificate),
    signingKey: await readText(files.signingKey),
  };
}
