import { existsSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

/** The JSON in a file that is compressed with Brotli; undefined: there is no such file. */
export function readBrotli(file: URL): unknown {
  if (!existsSync(file)) return undefined;
  return JSON.parse(brotliDecompressSync(readFileSync(file)).toString('utf8'));
}
