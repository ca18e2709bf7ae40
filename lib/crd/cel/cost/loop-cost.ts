import type { ComprehensionMacro } from '../expression.js';
import { listCost, mapCost } from './call-cost.js';
import { plus } from './size-range.js';

/** What the parts of a loop cost. */
interface PartCosts {
  readonly filter: number | undefined;
  readonly step: number;
}

/**
 * What a loop costs once, but for its range, and for each element. The numbers are those of the
 * steps that a macro stands for: reading and writing what was gathered so far.
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
      // The element is put into a list that is added to the others.
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
