import { plus, sumOf, times } from './size-range.js';
import type { SizeRange } from './size-range.js';

/** How long a text may be after each `old` in it became a `next`. */
export function replacedSize(text: SizeRange, old: SizeRange, next: SizeRange): SizeRange {
  const most = longest(text.max, { old: old.min, next: next.max });
  const least = shortest(text.min, { old: old.max, next: next.min });
  const replaced = { min: times(least.count, next.min), max: times(most.count, next.max) };
  return sumOf(replaced, { min: least.kept, max: most.kept });
}

interface Lengths {
  readonly old: number;
  readonly next: number;
}

interface Parts {
  /** How often it is replaced. */
  readonly count: number;
  /** How much of the text stays. */
  readonly kept: number;
}

/** The smallest parts become the largest ones; nothing is found between all characters. */
function longest(text: number, { old, next }: Lengths): Parts {
  if (old === 0) return { count: plus(text, 1), kept: text };
  if (next <= old) return { count: 0, kept: text };
  return { count: Math.ceil(text / old), kept: 0 };
}

/** The largest parts become the smallest ones. */
function shortest(text: number, { old, next }: Lengths): Parts {
  if (old === 0) return { count: plus(text, 1), kept: text };
  if (old <= next) return { count: 0, kept: text };
  return { count: Math.ceil(text / old), kept: 0 };
}
