import type { ReconcileKey } from '../../controller/reconcile-key.js';
import { keyString } from '../../object/object-key.js';

/** A hash of 64 bits, as two unsigned halves: `bigint` would be fifty times slower. */
export interface Hash64 {
  readonly high: number;
  readonly low: number;
}

/**
 * What of a key is hashed.
 *
 * `key`: cluster, namespace and name, mixed well: even however the names look like.
 *
 * `namespace`: the namespace as a server with KEP-5866 hashes `object.metadata.namespace`, so that
 * all keys of a namespace, and what belongs to them, fall to one replica, and a filtered watch would
 * deliver just that. Its FNV-1a hardly spreads names that differ at their end: of `tenant-0` to
 * `tenant-999` one of three replicas gets none. Cluster-scoped keys are hashed by `key`.
 *
 * By UID, KEP-5866's other choice, is none here: a key has no UID before its object is known nor
 * after it is gone, and an object deleted and created again would change the replica while the old
 * one still cleans up; the children's UIDs say nothing about their owner.
 */
export type ShardBy = 'key' | 'namespace';

/** The hash of `key`; where it falls into a range, the key belongs to whom the range belongs. */
export function hashOfKey(key: ReconcileKey, by: ShardBy): Hash64 {
  const { namespace = '', cluster = '' } = key;
  if (by === 'namespace' && namespace !== '') return fnv1a64(namespace);
  const text = keyString(key);
  return mixed(fnv1a64(cluster === '' ? text : `${cluster}//${text}`));
}

const utf8 = new TextEncoder();

/** FNV-1a of 64 bits over the UTF-8 of `text`: the hash of KEP-5866. */
export function fnv1a64(text: string): Hash64 {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of utf8.encode(text)) {
    low = (low ^ byte) >>> 0;
    // Times 2^40 + 0x1b3; each product stays below 2^53.
    const product = low * 0x1b3;
    high = (high * 0x1b3 + Math.floor(product / 2 ** 32) + low * 2 ** 8) % 2 ** 32;
    low = product % 2 ** 32;
  }
  return { high, low };
}

/** Lets every bit of the hash count for the upper ones, which alone tell the ranges apart. */
function mixed({ high, low }: Hash64): Hash64 {
  // The finisher of MurmurHash3 (32 bits) on each half, so that one depends on the other.
  const lower = finished(low ^ finished(high));
  return { high: finished(high ^ lower), low: lower };
}

function finished(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
