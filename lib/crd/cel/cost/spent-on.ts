import { CelList } from '../values.js';
import type { CelValue } from '../values.js';

/** Functions whose time is the product of their arguments' sizes. */
const products = new Set(['matches', 'find', 'findAll', 'indexOf', 'lastIndexOf', 'replace']);
const perCharacter = 0.1;

/**
 * Returns the actual cost of a call from the sizes of its texts and of the lists that it searches. `callCost`
 * estimates the maximum beforehand.
 */
export function spentOn(name: string, values: readonly CelValue[]): number {
  if (!products.has(name)) {
    return values.reduce((sum: number, value) => sum + sizeCost(name, value), 1);
  }
  const [text = 0, ...others] = values.map((value) =>
    typeof value === 'string' ? value.length : 0,
  );
  return 1 + (1 + text * perCharacter) * (1 + Math.max(0, ...others) * perCharacter * 2.5);
}

function sizeCost(name: string, value: CelValue): number {
  if (typeof value === 'string') return value.length * perCharacter;
  if (value instanceof Uint8Array) return value.length * perCharacter;
  if (value === null || typeof value !== 'object') return 0;
  // Index access and `size` do not traverse the list.
  if (!(value instanceof CelList) || name === '_[_]' || name === 'size') return 0;
  return value.items.length;
}
