const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// What a byte becomes that is no UTF-8: U+DC80 to U+DCFF, which no UTF-8 stands for.
const escape = 0xdc00;

/** Bytes as a text: UTF-8, and each byte that is none as a single surrogate of its own. */
export function bytesToText(bytes: Uint8Array): string {
  const whole = decoded(bytes);
  if (whole !== undefined) return whole;
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const length = lengthOfCharacter(bytes[at] ?? 0);
    const character = length === 0 ? undefined : decoded(bytes.subarray(at, at + length));
    text += character ?? String.fromCharCode(escape + (bytes[at] ?? 0));
    at += character === undefined ? 1 : length;
  }
  return text;
}

/** The bytes of which {@link bytesToText} made `text`. */
export function textToBytes(text: string): Uint8Array {
  if (!/[\udc80-\udcff]/.test(text)) return Buffer.from(text, 'utf8');
  // By code points: the second half of a pair is none of ours.
  const parts = Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const isByte = code >= escape + 0x80 && code <= escape + 0xff;
    return isByte ? Uint8Array.of(code - escape) : Buffer.from(character, 'utf8');
  });
  return Buffer.concat(parts);
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** How many bytes a character has that begins with `byte`; 0: none does. */
function lengthOfCharacter(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte >= 0xc2 && byte < 0xe0) return 2;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  return byte >= 0xf0 && byte < 0xf5 ? 4 : 0;
}
