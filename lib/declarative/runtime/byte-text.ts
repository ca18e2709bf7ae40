const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// Base of the code units for invalid UTF-8 bytes: U+DC80 to U+DCFF, which valid UTF-8 never encodes.
const escape = 0xdc00;

/** Decodes UTF-8. Each invalid byte becomes a single surrogate. */
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

/** Returns the bytes that {@link bytesToText} decoded to `text`. */
export function textToBytes(text: string): Uint8Array {
  if (!/[\udc80-\udcff]/.test(text)) return Buffer.from(text, 'utf8');
  // By code points: the second half of a surrogate pair is not an escaped byte.
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

/** Length in bytes of the character that begins with `byte`; 0 if no character does. */
function lengthOfCharacter(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte >= 0xc2 && byte < 0xe0) return 2;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  return byte >= 0xf0 && byte < 0xf5 ? 4 : 0;
}
