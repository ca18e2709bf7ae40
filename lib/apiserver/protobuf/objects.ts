import { groupOf, versionOf } from '../../object/index.js';
import { definitionName, goTypeName } from '../kinds/documents.js';
import { coderOf, hasStruct } from './messages.js';
import { WireReader, WireWriter } from './wire.js';

/** Media type of Kubernetes' protobuf encoding. */
export const protobufMediaType = 'application/vnd.kubernetes.protobuf';

interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

const magic = Buffer.from('k8s\0');

/**
 * Decodes an object of a built-in kind from Kubernetes' protobuf encoding to JSON. Typed clients in
 * Go and kubectl's `create` commands send it. The encoding is four bytes (`k8s` and a zero) and a
 * message with the type and the object.
 * @returns undefined if the encoding is another one, or the kind is not built in
 */
export function objectFromProtobuf(
  bytes: Uint8Array,
): Readonly<Record<string, unknown>> | undefined {
  if (!magic.equals(bytes.subarray(0, magic.length))) return undefined;
  try {
    const { apiVersion, kind, raw } = readEnvelope(bytes.subarray(magic.length));
    const struct = structOf({ apiVersion, kind });
    if (struct === undefined) return undefined;
    const object = coderOf(struct).read(new WireReader(raw));
    return { ...(object as object), apiVersion, kind };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readEnvelope(bytes: Uint8Array): TypeMeta & { readonly raw: Uint8Array } {
  const found = { apiVersion: '', kind: '', raw: bytes.subarray(0, 0) };
  const reader = new WireReader(bytes);
  reader.fields((number, wireType) => {
    if (wireType !== 2) return false;
    if (number === 2) found.raw = reader.bytes();
    if (number === 1) {
      reader.fields((at, own) => {
        if (own !== 2) return false;
        if (at === 1) found.apiVersion = reader.text();
        if (at === 2) found.kind = reader.text();
        return true;
      });
    }
    return true;
  });
  return found;
}

function structOf({ apiVersion, kind }: TypeMeta): string | undefined {
  const own = goTypeName(definitionName(groupOf(apiVersion), versionOf(apiVersion), kind));
  // Statuses and options of requests are in the package `meta`, whatever the group.
  return [own, `meta/v1.${kind}`].find(hasStruct);
}

// Encoding is synchronous, so that all calls can share it.
const writer = new WireWriter();

/** Encodes an object of a built-in kind, a `Status` or the metadata of any object. */
export function objectToProtobuf(object: TypeMeta): Uint8Array {
  return taken(() => {
    writeAfterRaw();
    writer.field(2, 2, () => writeObject(object));
    writeBeforeRaw(object);
  });
}

/** Returns the bytes that `write` writes. After an error, the shared writer must be empty for the next caller. */
function taken(write: () => void): Uint8Array {
  try {
    write();
  } catch (error) {
    writer.take();
    throw error;
  }
  return writer.take();
}

/** Encodes a list in pieces. `head` is the list without its items. */
export function* listToProtobuf(
  head: TypeMeta & { readonly metadata: unknown },
  items: readonly TypeMeta[],
): Generator<Uint8Array> {
  const encoded = items.map((item) => taken(() => writer.field(2, 2, () => writeObject(item))));
  const size = encoded.reduce((sum, { length }) => sum + length, 0);
  yield taken(() => {
    writer.field(1, 2, () => coderOf('meta/v1.ListMeta').write(writer, head.metadata));
    writer.varint(writer.length + size);
    writer.varint(2 * 8 + 2);
    writeBeforeRaw(head);
  });
  yield* encoded;
  writeAfterRaw();
  yield writer.take();
}

/** Encodes an event of a watch, with its length, which the stream needs, in four bytes before it. */
export function watchEventToProtobuf(type: string, object: Uint8Array): Uint8Array {
  writer.field(2, 2, () => writer.field(1, 2, () => writer.bytes(object)));
  writer.field(1, 2, () => writer.text(type));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(writer.length);
  writer.bytes(size);
  return writer.take();
}

function writeObject(object: TypeMeta): void {
  const struct = structOf(object);
  if (struct === undefined) throw new RangeError(`${object.kind}: the kind is not built in`);
  coderOf(struct).write(writer, object);
}

/** Writes the encoding and the media type of the object, which are empty for protobuf. */
function writeAfterRaw(): void {
  writer.field(4, 2, () => writer.text(''));
  writer.field(3, 2, () => writer.text(''));
}

function writeBeforeRaw({ apiVersion, kind }: TypeMeta): void {
  writer.field(1, 2, () => {
    writer.field(2, 2, () => writer.text(kind));
    writer.field(1, 2, () => writer.text(apiVersion));
  });
  writer.bytes(magic);
}
