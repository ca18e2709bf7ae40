import { withoutMembers } from '../../object/index.js';
import type { UnstructuredObject } from '../../object/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { objectToProtobuf } from '../protobuf/objects.js';
import { internalFailure } from '../status-error.js';

/** The limits of etcd and of its client, in bytes. */
const requestLimit = 1.5 * 1024 * 1024;
const messageLimit = 2 * 1024 * 1024;

/** The approximate length of a request to etcd beside its object. */
const overhead = 150;

/** Bodies and stored objects of fewer bytes cannot become one of too many. */
const smallBody = 256 * 1024;
const smallObject = 512 * 1024;

/** Stored objects that are not small. */
const large = new WeakSet<UnstructuredObject>();

/** Hints of the size of an object, which spare measuring small ones. */
interface SizeHints {
  /** The length of the body of the request. @defaultValue 0 */
  readonly bytes?: number | undefined;
  /** The stored object. @defaultValue none */
  readonly live?: UnstructuredObject | undefined;
}

/**
 * Returns the object to store: without managed fields if it is too large with them, as on the real server.
 * @throws StatusError 500: it is too large for etcd.
 */
export function fitting(
  kind: ServedKind,
  object: UnstructuredObject,
  { bytes = 0, live }: SizeHints,
): UnstructuredObject {
  // Few objects are large, and measuring all of them would cost every write.
  if (bytes < smallBody && (live === undefined || !large.has(live))) return object;
  const whole = sizeOf(kind, object);
  if (whole > smallObject) large.add(object);
  if (whole <= requestLimit) return object;
  const less = { ...object, metadata: withoutMembers(object.metadata, 'managedFields') };
  const size = sizeOf(kind, less);
  if (size > messageLimit) {
    const why = `trying to send message larger than max (${size} vs. ${messageLimit})`;
    throw internalFailure(`rpc error: code = ResourceExhausted desc = ${why}`);
  }
  if (size > requestLimit) throw internalFailure('etcdserver: request is too large');
  large.add(less);
  return less;
}

function sizeOf({ custom, type }: ServedKind, object: UnstructuredObject): number {
  // The real server stores these as JSON, and others as protobuf.
  const isJson = custom !== undefined || type.group === 'apiextensions.k8s.io';
  const size = isJson ? Buffer.byteLength(JSON.stringify(object)) : objectToProtobuf(object).length;
  return size + overhead;
}
