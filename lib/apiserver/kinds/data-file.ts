import { existsSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

// Constants that every server of the process shares; nothing ever writes into them.
const unpacked = new Map<string, unknown>();

/**
 * The committed data file `name`, unpacked when it is first asked for; undefined: there is none.
 * Shared: never write into it.
 * `scripts/openapi/compact.ts` makes these files.
 */
export function readDataFile(name: string): unknown {
  if (!unpacked.has(name)) unpacked.set(name, unpack(name));
  return unpacked.get(name);
}

function unpack(name: string): unknown {
  const file = new URL(`../data/${name}.json.br`, import.meta.url);
  if (!existsSync(file)) return undefined;
  return JSON.parse(brotliDecompressSync(readFileSync(file)).toString('utf8'));
}
