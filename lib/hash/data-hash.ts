import { createHmac } from 'node:crypto';
import { hashObject } from './hash-object.js';

/** The parts of a ConfigMap or Secret that pods can read. */
export interface ConfigurationData {
  readonly data?: Readonly<Record<string, string>> | undefined;
  readonly binaryData?: Readonly<Record<string, string>> | undefined;
  /** Plain values of a Secret, not base64. They override `data`, as on the server. */
  readonly stringData?: Readonly<Record<string, string>> | undefined;
}

/**
 * Returns the hash of a ConfigMap's data. Metadata does not count. An empty map counts as absent, since the
 * server drops it.
 */
export function configMapHash(configMap: ConfigurationData): string {
  return hashObject(seenByPods(configMap));
}

/**
 * Returns the hash of a Secret's data, keyed with a salt. Without the salt, a user who can read pods, and so
 * the hash, can't test guesses of a weak secret. The builder's salt is the UID of the owner with the Secret's
 * name: it survives a deletion of the Secret and hides that two Secrets are equal.
 */
export function secretHash(secret: ConfigurationData, salt: string): string {
  return createHmac('sha256', salt)
    .update(hashObject(seenByPods(secret)))
    .digest('hex');
}

/** Returns `data` with `stringData` merged in as base64, as the server stores it. */
export function encodedData({ data, stringData }: ConfigurationData): Record<string, string> {
  const encoded = Object.entries(stringData ?? {}).map(
    ([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')] as const,
  );
  // `fromEntries` defines members: a key named `__proto__` becomes an ordinary key.
  return Object.fromEntries([...Object.entries(data ?? {}), ...encoded]);
}

function seenByPods(source: ConfigurationData): object {
  const data = encodedData(source);
  const { binaryData = {} } = source;
  return {
    ...(Object.keys(data).length > 0 && { data }),
    ...(Object.keys(binaryData).length > 0 && { binaryData }),
  };
}
