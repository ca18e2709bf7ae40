import type { Random } from '../../system/random.js';

// The alphabet of apimachinery's generator: no vowels, and no digits that look like vowels.
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longest = 63;

/**
 * Returns `base` with a random suffix of five characters, cut to 63 characters. If the name is
 * taken, it tries another suffix, up to eight times (KEP-4420).
 */
export function generatedName(
  base: string,
  random: Random,
  taken: (name: string) => boolean,
): string {
  const kept = base.slice(0, longest - suffixLength);
  let name = '';
  for (let attempt = 0; attempt < 8; attempt++) {
    name = kept + suffix(random);
    if (!taken(name)) break;
  }
  return name;
}

function suffix(random: Random): string {
  const pick = (): string => alphabet[Math.floor(random.next() * alphabet.length)] ?? '';
  return Array.from({ length: suffixLength }, pick).join('');
}
