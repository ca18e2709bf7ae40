import type { ComprehensionMacro } from '../expression.js';
import { listCost, mapCost } from './call-cost.js';
import { plus } from './size-range.js';

/** The costs of a loop's parts. */
interface PartCosts {
  readonly filter: number | undefined;
  readonly step: number;
}

/**
 * Returns the costs of a loop without its range: once, and per element. The numbers count the steps that a
 * macro expands to, including reads and writes of the accumulator.
 */
export function loopCost(
  macro: ComprehensionMacro,
  { filter, step }: PartCosts,
): { readonly once: number; readonly each: number } {
  const passing = (cost: number): number => {
    return filter === undefined ? cost : plus(filter, Math.max(cost, 1));
  };
  switch (macro) {
    case 'all':
      return { once: 1, each: plus(step, 3) };
    case 'exists':
      return { once: 1, each: plus(step, 4) };
    case 'existsOne':
      return { once: 2, each: plus(step, 2) };
    case 'filter':
      // The element becomes a one-item list that is appended to the accumulator.
      return { once: listCost + 1, each: plus(step, listCost + 3) };
    case 'map':
    case 'transformList':
    case 'sortBy':
      return { once: listCost + 1, each: passing(plus(step, listCost + 2)) };
    case 'transformMap':
      return { once: mapCost + 1, each: passing(plus(step, 3)) };
    case 'transformMapEntry':
      return { once: mapCost + 1, each: passing(plus(step, 2)) };
  }
}
