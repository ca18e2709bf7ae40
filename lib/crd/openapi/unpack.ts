import { brotliDecompressSync } from 'node:zlib';

/** Returns the JSON value in a string of a generated data module: Brotli as Base64. */
export function unpack(packed: string): unknown {
  return JSON.parse(brotliDecompressSync(Buffer.from(packed, 'base64')).toString('utf8'));
}
