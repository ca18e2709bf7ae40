import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

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
