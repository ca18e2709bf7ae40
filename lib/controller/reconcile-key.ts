import type { ObjectKey } from '../object/kubernetes-object.js';
import { keyString, parseKey } from '../object/object-key.js';
import { OperatorError } from '../system/operator-error.js';

/** What to reconcile: an object's key, and the cluster where a controller runs on several. */
export interface ReconcileKey extends ObjectKey {
  /** The name of the cluster. @defaultValue that of the event; where there is none, the only one */
  readonly cluster?: string | undefined;
}

/** A {@link ReconcileKey} in full, and the text that it is queued under. */
export interface WorkKey {
  /** `namespace/name`, with `cluster//` before it where the cluster has a name. */
  readonly text: string;
  /** `''`: the only one. */
  readonly cluster: string;
  readonly key: ObjectKey;
}

// Neither namespaces nor names are empty or hold a slash: two in a row stand between no two of them.
const separator = '//';

/**
 * `key` in full.
 * @param fallback - the cluster of a key that names none
 * @throws OperatorError `InvalidValue`: no object can have such a key.
 */
export function workKeyOf(key: ReconcileKey, fallback = ''): WorkKey {
  const { cluster = fallback, namespace = '', name } = checked(key);
  const plain = namespace === '' ? { name } : { namespace, name };
  const text = keyString(plain);
  return { text: cluster === '' ? text : cluster + separator + text, cluster, key: plain };
}

/** Reads the text of a {@link WorkKey}. */
export function parseWorkKey(text: string): WorkKey {
  const at = text.indexOf(separator);
  const [cluster, rest] = at < 0 ? ['', text] : [text.slice(0, at), text.slice(at + 2)];
  return { text, cluster, key: parseKey(rest) };
}

/** The cluster of a {@link WorkKey}'s text. */
export function clusterIn(text: string): string {
  const at = text.indexOf(separator);
  return at < 0 ? '' : text.slice(0, at);
}

/** The namespace of a {@link WorkKey}'s text, or `''`. */
export function namespaceIn(text: string): string {
  const at = text.indexOf(separator);
  const from = at < 0 ? 0 : at + separator.length;
  const slash = text.indexOf('/', from);
  return slash < 0 ? '' : text.slice(from, slash);
}

// What a mapper returns is nothing that the compiler has seen for sure.
function checked(key: ReconcileKey): ReconcileKey {
  if (typeof key === 'object' && (key as ReconcileKey | null) !== null) {
    const { cluster = '', namespace = '', name } = key;
    if (name !== '' && isPart(cluster) && isPart(namespace) && isPart(name)) return key;
  }
  throw new OperatorError('InvalidValue', `no object has the key ${shown(key)}`);
}

function isPart(part: unknown): boolean {
  return typeof part === 'string' && !part.includes('/');
}

function shown(key: unknown): string {
  if (typeof key !== 'object' || key === null) return typeof key === 'string' ? key : typeof key;
  const { cluster, namespace, name } = key as Partial<Record<keyof ReconcileKey, unknown>>;
  return JSON.stringify({ cluster, namespace, name }, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !('name' in value) ? 'an object' : value,
  );
}
