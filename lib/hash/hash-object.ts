import { createHmac } from 'node:crypto';
import objectHash from 'object-hash';
import { OperatorError } from '../system/index.js';

/**
 * Returns the SHA-256 of a JSON value as 64 hex digits: the same in every process and every release of this
 * package. The order of members and undefined members do not count; the order of items does.
 * @throws OperatorError `InvalidValue`: part of the value has no JSON form.
 */
export function hashObject(value: unknown): string {
  // Hash the JSON, not the value itself: the package `object-hash` treats an object that is referenced twice as a
  // cycle, so equal values would get different hashes. It would also take a hundred times as long.
  return objectHash(canonicalJson(value), { algorithm: 'sha256' });
}

/**
 * Returns the JSON of `value` with the members of every object sorted by UTF-16 code units, so that equal
 * values have equal texts. As in JSON, undefined members are left out and undefined items become null.
 * @throws OperatorError `InvalidValue`: part of the value has no JSON form, for example NaN or a function.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      if (Number.isFinite(value)) return JSON.stringify(value);
      throw new OperatorError('InvalidValue', `${value} can't be hashed: JSON has no such number`);
    case 'undefined':
      return 'null';
    case 'object':
      return canonicalObject(value);
    case 'bigint':
    case 'symbol':
    case 'function':
      throw new OperatorError(
        'InvalidValue',
        `a ${typeof value} can't be hashed: it has no JSON form`,
      );
  }
}

function canonicalObject(value: object | null): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const object = value as Readonly<Record<string, unknown>>;
  let text = '';
  for (const name of sortedKeys(object)) {
    const member = object[name];
    if (member === undefined) continue;
    text += `${text === '' ? '{' : ','}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/**
 * Returns the keys sorted by UTF-16 code units, independent of locale. Skips the sort for keys already in
 * order, as most are.
 */
function sortedKeys(object: object): readonly string[] {
  const keys = Object.keys(object);
  for (let n = 1; n < keys.length; n++) {
    if ((keys[n - 1] ?? '') > (keys[n] ?? '')) return keys.sort();
  }
  return keys;
}

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
 * Returns the hash of a Secret's data, keyed with a salt, so that equal Secrets get different hashes. The builder's
 * salt is the UID of the owner with the Secret's name. That salt stays the same if the Secret is deleted. A user who
 * may read pods, and so the hash, can't test guesses of a weak secret without the salt. A user who may read workloads
 * can, because their owner references contain the UID.
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
