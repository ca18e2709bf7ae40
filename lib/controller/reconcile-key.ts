import type { ObjectKey } from '../object/kubernetes-object.js';
import { keyString, parseKey } from '../object/object-key.js';
import { OperatorError } from '../system/operator-error.js';

/** The object key of a reconcile, with the cluster if a controller runs on several. */
export interface ReconcileKey extends ObjectKey {
  /** The name of the cluster. @defaultValue the cluster of the event, else the only one */
  readonly cluster?: string | undefined;
}

/** A complete {@link ReconcileKey} and its text in the queue. */
export interface WorkKey {
  /** `namespace/name`, prefixed with `cluster//` if the cluster has a name. */
  readonly text: string;
  /** The cluster's name; `''` for the only one. */
  readonly cluster: string;
  readonly key: ObjectKey;
}

// Namespaces and names are non-empty and contain no slash, so a key contains no other double slash.
const separator = '//';

/**
 * Completes and checks `key`.
 * @param fallback - the cluster of a key without one
 * @throws OperatorError `InvalidValue`: no object can have such a key.
 */
export function workKeyOf(key: ReconcileKey, fallback = ''): WorkKey {
  const { cluster = fallback, namespace = '', name } = checked(key);
  const plain = namespace === '' ? { name } : { namespace, name };
  const text = keyString(plain);
  return { text: cluster === '' ? text : cluster + separator + text, cluster, key: plain };
}

/** Parses the text of a {@link WorkKey}. */
export function parseWorkKey(text: string): WorkKey {
  const at = text.indexOf(separator);
  const [cluster, rest] = at < 0 ? ['', text] : [text.slice(0, at), text.slice(at + 2)];
  return { text, cluster, key: parseKey(rest) };
}

/** Returns the cluster in the text of a {@link WorkKey}. */
export function clusterIn(text: string): string {
  const at = text.indexOf(separator);
  return at < 0 ? '' : text.slice(0, at);
}

/** Returns the namespace in the text of a {@link WorkKey}, or `''`. */
export function namespaceIn(text: string): string {
  const at = text.indexOf(separator);
  const from = at < 0 ? 0 : at + separator.length;
  const slash = text.indexOf('/', from);
  return slash < 0 ? '' : text.slice(from, slash);
}

// A mapper's keys may have any type at run time.
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
