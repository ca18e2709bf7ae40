/*
 * The sizes of values in V8, in bytes, by its layouts on 64 bit without pointer compression (Node's).
 * Shared strings count for each object, so the estimate is an upper bound, about a fifth too high.
 */
const word = 8;
const objectHeader = 3 * word;
const arrayHeader = 6 * word;
const stringHeader = 2 * word;

/** Estimates the heap size of `value`, in bytes. */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return stringHeader + Math.ceil(value.length / word) * word;
  if (typeof value !== 'object' || value === null) {
    // Small integers and booleans are stored in the parent's slot.
    return typeof value === 'number' && !Number.isInteger(value) ? 2 * word : 0;
  }
  let bytes = Array.isArray(value) ? arrayHeader : objectHeader;
  for (const name in value) bytes += word + estimateBytes(value[name as keyof typeof value]);
  return bytes;
}

/** The approximate number of objects to sample. */
const sampleSize = 256;

/**
 * Estimates the heap size of `size` objects, in bytes, from every nth of them. The sample is small enough to
 * run at each metrics collection.
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
