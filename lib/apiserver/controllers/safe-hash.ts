// The letters of generated names in Kubernetes: no vowels and no similar characters.
const safeLetters = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * Returns a short hash of a JSON value for names and labels: FNV-1a of its canonical text, in the alphabet of
 * `rand.SafeEncodeString`. Another `probe` (a collision count) gives another hash of the same value. The hash
 * is stable, but differs from a real control plane's, which hashes Go structures.
 */
export function safeHash(value: unknown, probe = 0): string {
  const text = `${canonicalText(value)}${probe === 0 ? '' : `#${probe}`}`;
  return safeText(fnv1a(text));
}

/** Returns `length` random letters of that alphabet. @param next - returns numbers from 0 up to 1 */
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
