/**
 * Cuts `text` to `maxBytes` bytes of UTF-8, never within a character, and marks a cut with an ellipsis. The
 * API server counts bytes.
 */
export function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes - Buffer.byteLength(ellipsis);
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0b1100_0000) === 0b1000_0000) end--;
  return bytes.toString('utf8', 0, end) + ellipsis;
}

const ellipsis = '…';
