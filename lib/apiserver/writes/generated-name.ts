import type { Random } from '../../system/random.js';

// No vowels and no digits that look like them: the alphabet of apimachinery's generator.
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longest = 63;

/**
 * `base` with a random suffix of five characters, cut to 63; tries another one up to eight times
 * where the name is taken (KEP-4420).
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
