import { plus, sumOf, times } from './size-range.js';
import type { SizeRange } from './size-range.js';

/** Returns the size of a text after each `old` in it is replaced with a `next`. */
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
  /** The number of replacements. */
  readonly count: number;
  /** The length of text that remains. */
  readonly kept: number;
}

/** Returns the parts of the longest result. An empty `old` matches before each character and at the end. */
function longest(text: number, { old, next }: Lengths): Parts {
  if (old === 0) return { count: plus(text, 1), kept: text };
  if (next <= old) return { count: 0, kept: text };
  return { count: Math.ceil(text / old), kept: 0 };
}

/** Returns the parts of the shortest result. */
function shortest(text: number, { old, next }: Lengths): Parts {
  if (old === 0) return { count: plus(text, 1), kept: text };
  if (old <= next) return { count: 0, kept: text };
  return { count: Math.ceil(text / old), kept: 0 };
}
