import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { OperatorError } from '../../system/operator-error.js';

/** The only accepted signature algorithm. */
export const tokenAlgorithm = 'RS256';

/** The audience of tokens: tokens for other servers are invalid here. */
export const tokenAudience = 'views.operator-builder.io';

/** A key that verifies tokens. */
export interface VerifyingKey {
  /** The `kid` in the header of a token. */
  readonly id: string;
  readonly key: KeyObject;
}

const shortestBits = 2048;

/** Reads the key that signs tokens. @throws OperatorError `InvalidOption`: the key is invalid. */
export function signingKey(pem: string): KeyObject {
  return checked('the key that signs tokens', () => createPrivateKey(pem));
}

/** Returns the id of a public or private key: a hash of its public part. */
export function keyIdOf(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('base64url').slice(0, 16);
}

/**
 * Returns the keys that verify the signatures of tokens, the newest first.
 * @param pem - public keys or certificates, one after the other
 * @throws OperatorError `InvalidOption`: a key is invalid, or the text has none.
 */
export function verifyingKeys(pem: string): readonly VerifyingKey[] {
  const blocks = pem.match(/-----BEGIN [^-]+-----[\s\S]*?-----END [^-]+-----/g) ?? [pem];
  return blocks.map((block) => {
    const key = verifyingKey(block);
    return { id: keyIdOf(key), key };
  });
}

function verifyingKey(pem: string): KeyObject {
  const what = 'tokenKey';
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) {
    // A public key could be derived, but a verifier must not be able to create tokens.
    const remedy = 'give the public key, or the certificate';
    throw new OperatorError('InvalidOption', `${what}: this is a private key: ${remedy}`);
  }
  return checked(what, () => createPublicKey(pem));
}

function checked(what: string, read: () => KeyObject): KeyObject {
  const key = readKey(what, read);
  const { asymmetricKeyType: type = '', asymmetricKeyDetails: { modulusLength = 0 } = {} } = key;
  if (type !== 'rsa' || modulusLength < shortestBits) {
    const got = type === 'rsa' ? `${modulusLength} bits` : type;
    const message = `${what}: want an RSA key of ${shortestBits} bits at least, got ${got}`;
    throw new OperatorError('InvalidOption', message);
  }
  return key;
}

function readKey(what: string, read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch (cause) {
    const message = `${what}: this is no key in PEM that can be read`;
    throw new OperatorError('InvalidOption', message, { cause });
  }
}
