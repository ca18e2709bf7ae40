/** A message to read: the names of its fields by their numbers; those that are not here are skipped. */
type Shape = Readonly<Record<number, readonly [name: string, inside?: Shape]>>;

const resourceAttributes: Shape = {
  ...{ 1: ['namespace'], 2: ['verb'], 3: ['group'], 4: ['version'] },
  ...{ 5: ['resource'], 6: ['subresource'], 7: ['name'] },
};
const nonResourceAttributes: Shape = { 1: ['path'], 2: ['verb'] };
const accessSpec: Shape = {
  1: ['resourceAttributes', resourceAttributes],
  2: ['nonResourceAttributes', nonResourceAttributes],
};

/** The kinds that kubectl sends in no other form, with what a client may say in them. */
const kinds: Readonly<Record<string, Shape>> = {
  'authorization.k8s.io/v1 SelfSubjectAccessReview': { 2: ['spec', accessSpec] },
  'authorization.k8s.io/v1 SelfSubjectRulesReview': { 2: ['spec', { 1: ['namespace'] }] },
  'authentication.k8s.io/v1 SelfSubjectReview': {},
};

/**
 * Reads a review of the client itself in Kubernetes' protobuf form: `kubectl auth` knows no other. The
 * form is four bytes (`k8s` and a zero) and a message with the type and the object.
 * @returns undefined: it is something else
 */
export function reviewFromProtobuf(
  bytes: Uint8Array,
): Readonly<Record<string, unknown>> | undefined {
  if (Buffer.from(bytes.subarray(0, 4)).toString('latin1') !== 'k8s\0') return undefined;
  try {
    const [type, raw] = [fieldOf(bytes.subarray(4), 1), fieldOf(bytes.subarray(4), 2)];
    const { apiVersion = '', kind = '' } = read(type, { 1: ['apiVersion'], 2: ['kind'] });
    const shape = kinds[`${String(apiVersion)} ${String(kind)}`];
    return shape && { apiVersion, kind, ...read(raw, shape) };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function read(bytes: Uint8Array, shape: Shape): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [number, content] of fields(bytes)) {
    const [name, inside] = shape[number] ?? [];
    if (name === undefined) continue;
    found[name] = inside === undefined ? new TextDecoder().decode(content) : read(content, inside);
  }
  return found;
}

function fieldOf(bytes: Uint8Array, wanted: number): Uint8Array {
  for (const [number, content] of fields(bytes)) if (number === wanted) return content;
  return new Uint8Array();
}

/** The fields of a message that have a length: texts and messages. @throws RangeError it is none. */
function* fields(bytes: Uint8Array): Generator<readonly [number, Uint8Array]> {
  let at = 0;
  const varint = (): number => {
    for (let value = 0, factor = 1; factor < 2 ** 35; factor *= 128) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new RangeError('the number does not end');
  };
  while (at < bytes.length) {
    const tag = varint();
    const wireType = tag % 8;
    if (wireType === 0) varint();
    else if (wireType === 2) {
      const length = varint();
      if (at + length > bytes.length) throw new RangeError('the field does not end');
      yield [Math.floor(tag / 8), bytes.subarray(at, at + length)];
      at += length;
    } else throw new RangeError(`no field of these messages has the wire type ${wireType}`);
  }
}
