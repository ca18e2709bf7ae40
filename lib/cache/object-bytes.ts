/*
 * What V8 needs for values, in bytes, by its layouts on 64 bit without pointer compression (Node's).
 * Texts that objects share are counted for each: it is an upper bound, about a fifth too high.
 */
const word = 8;
const objectHeader = 3 * word;
const arrayHeader = 6 * word;
const stringHeader = 2 * word;

/** About how many bytes of heap `value` takes. */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return stringHeader + Math.ceil(value.length / word) * word;
  if (typeof value !== 'object' || value === null) {
    // Small integers and booleans stand in their holder's slot.
    return typeof value === 'number' && !Number.isInteger(value) ? 2 * word : 0;
  }
  let bytes = Array.isArray(value) ? arrayHeader : objectHeader;
  for (const name in value) bytes += word + estimateBytes(value[name as keyof typeof value]);
  return bytes;
}

/** How many objects are looked at, at most. */
const sampleSize = 256;

/**
 * About how many bytes of heap `size` objects take, from every nth of them: quick enough for each
 * collection of metrics, however many there are.
 */
export function estimateTotalBytes(objects: Iterable<object>, size: number): number {
  const step = Math.max(1, Math.floor(size / sampleSize));
  let [sampled, bytes, nth] = [0, 0, 0];
  for (const object of objects) {
    if (nth++ % step !== 0) continue;
    sampled++;
    bytes += estimateBytes(object);
  }
  return sampled === 0 ? 0 : Math.round((bytes / sampled) * size);
}
