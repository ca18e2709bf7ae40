import { withoutMembers } from '../../object/index.js';
import type { UnstructuredObject } from '../../object/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { objectToProtobuf } from '../protobuf/objects.js';
import { internalFailure } from '../status-error.js';

/** The limits of etcd and of its client, in bytes. */
const requestLimit = 1.5 * 1024 * 1024;
const messageLimit = 2 * 1024 * 1024;

/** The approximate length of a request to etcd without its object. */
const overhead = 150;

/** An object of fewer bytes is far from the limits, even with its managed fields. */
const smallObject = 512 * 1024;

/** The sizes of stored objects. The size of a small object is an upper bound, not measured. */
const sizes = new WeakMap<UnstructuredObject, number>();

interface SizedWrite {
  /** The length of the body of the request. @defaultValue 0 */
  readonly bytes?: number | undefined;
  /** The stored object. @defaultValue none */
  readonly live?: UnstructuredObject | undefined;
  /** True for an apply, which needs its managed fields. */
  readonly applies: boolean;
}

/**
 * Returns the object to store: without managed fields if it is too large with them, as on the real server.
 * @throws StatusError 500: it is too large for etcd.
 */
export function fitting(
  kind: ServedKind,
  object: UnstructuredObject,
  { bytes = 0, live, applies }: SizedWrite,
): UnstructuredObject {
  // Measuring each object would slow down every write, and few objects are large. An update adds at most the length of
  // its body, unless a webhook or a copy in a JSON Patch adds more.
  const most = bytes + (live === undefined ? 0 : (sizes.get(live) ?? 0));
  if (most < smallObject) {
    sizes.set(object, most);
    return object;
  }
  const size = sizeOf(kind, object);
  sizes.set(object, size);
  if (size <= requestLimit) return object;
  const { managedFields } = object.metadata;
  if (!applies && managedFields !== undefined) {
    const metadata = withoutMembers(object.metadata, 'managedFields');
    return fitting(kind, { ...object, metadata }, { bytes: size, applies });
  }
  if (size > messageLimit) {
    const why = `trying to send message larger than max (${size} vs. ${messageLimit})`;
    throw internalFailure(`rpc error: code = ResourceExhausted desc = ${why}`);
  }
  throw internalFailure('etcdserver: request is too large');
}

function sizeOf({ custom, type }: ServedKind, object: UnstructuredObject): number {
  // The real server stores custom resources and their definitions as JSON, and other objects as protobuf.
  const isJson = custom !== undefined || type.group === 'apiextensions.k8s.io';
  const size = isJson ? Buffer.byteLength(JSON.stringify(object)) : objectToProtobuf(object).length;
  return size + overhead;
}
