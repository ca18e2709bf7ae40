import { keyFilesIn } from '../../../declarative/api-server/index.js';
import { readText } from '../../files.js';

/** The keys from the directory of `declarative keys` that an API server of views needs. */
export interface ServerKeys {
  readonly tls: { readonly certificate: string; readonly privateKey: string };
  readonly tokenKey: string;
  /** Source of `tokenKey`; the server reads it again when it changes. */
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

/** The keys from the directory of `declarative keys` that sign tokens. */
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
