import { readBrotli } from '../../crd/openapi/read-brotli.js';

// Constants that every server of the process shares; nothing ever writes into them.
const unpacked = new Map<string, unknown>();

/**
 * The committed data file `name`, unpacked when it is first asked for; undefined: there is none.
 * Shared: never write into it.
 * `scripts/openapi/compact.ts` makes these files.
 */
export function readDataFile(name: string): unknown {
  if (!unpacked.has(name)) {
    unpacked.set(
      name,
      readBrotli(new URL(`../../apiserver/data/${name}.json.br`, import.meta.url)),
    );
  }
  return unpacked.get(name);
}
