import { hashObject } from '../../hash/hash-object.js';

/** The API server's limit. */
const longestName = 128;

/**
 * Returns the field manager of a controller: `<operator>/<controller>`. A name above the API server's limit
 * is cut and ends with a hash of the whole, the same in every process.
 */
export function targetFieldManager(operator: string, controller: string): string {
  const name = `${operator}/${controller}`;
  if (name.length <= longestName) return name;
  const hash = hashObject(name).slice(0, 12);
  return `${name.slice(0, longestName - hash.length - 1)}-${hash}`;
}
