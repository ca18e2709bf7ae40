import { createHmac } from 'node:crypto';
import { hashObject } from './hash-object.js';

/** What of a ConfigMap or Secret its pods see. */
export interface ConfigurationData {
  readonly data?: Readonly<Record<string, string>> | undefined;
  readonly binaryData?: Readonly<Record<string, string>> | undefined;
  /** Of Secrets: values that are not yet in base64; laid over `data`, as the server does. */
  readonly stringData?: Readonly<Record<string, string>> | undefined;
}

/**
 * The hash of a ConfigMap's data; its metadata does not count, an empty map counts as none (the
 * server drops it).
 */
export function configMapHash(configMap: ConfigurationData): string {
  return hashObject(seenByPods(configMap));
}

/**
 * The hash of a Secret's data, keyed with a salt: who may read pods, and so the hash, but not the salt
 * can't try out guesses of a weak secret. The builder's salt is the UID of the owner with the Secret's
 * name: it outlives the Secret, and does not show that two Secrets are the same.
 */
export function secretHash(secret: ConfigurationData, salt: string): string {
  return createHmac('sha256', salt)
    .update(hashObject(seenByPods(secret)))
    .digest('hex');
}

/** `stringData` as the server stores it: in base64, among `data`. */
export function encodedData({ data, stringData }: ConfigurationData): Record<string, string> {
  const encoded = Object.entries(stringData ?? {}).map(
    ([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')] as const,
  );
  // `fromEntries` defines members: a key named `__proto__` is a key like any other.
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
