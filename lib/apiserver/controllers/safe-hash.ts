// The letters that Kubernetes puts into generated names: no vowels, no look-alikes.
const safeLetters = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * A short hash of a JSON value for use in names and labels: FNV-1a over its canonical text, in the
 * alphabet of `rand.SafeEncodeString`. `probe` (a collision count) gives another hash for the same
 * value. Stable, but not equal to a real control plane's, which hashes Go structures.
 */
export function safeHash(value: unknown, probe = 0): string {
  const text = `${canonicalText(value)}${probe === 0 ? '' : `#${probe}`}`;
  return safeText(fnv1a(text));
}

/** `length` letters of that alphabet. @param next - numbers from 0 up to 1. */
export function safeSuffix(next: () => number, length = 5): string {
  const letter = (): string => safeLetters.charAt(Math.floor(next() * safeLetters.length));
  return Array.from({ length }, letter).join('');
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

function safeText(hash: number): string {
  return Array.from(String(hash), (digit) =>
    safeLetters.charAt(digit.charCodeAt(0) % safeLetters.length),
  ).join('');
}

function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
