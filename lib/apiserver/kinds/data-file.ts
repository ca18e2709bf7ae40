import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

// Constants that every server of the process shares; nothing ever writes into them.
const unpacked = new Map<string, unknown>();

/**
 * The committed data file `name`, unpacked when it is first asked for. Shared: never write into it.
 * `scripts/openapi/compact.ts` makes these files.
 */
export function readDataFile(name: string): unknown {
  let value = unpacked.get(name);
  if (value === undefined) {
    const packed = readFileSync(new URL(`../data/${name}.json.br`, import.meta.url));
    value = JSON.parse(brotliDecompressSync(packed).toString('utf8'));
    unpacked.set(name, value);
  }
  return value;
}
