import { childrenOf } from './children.js';
import { CelCompileError } from './compile-error.js';
import type { Expression } from './expression.js';

/** Maximum depth: checking and evaluating are recursive and would overflow the stack. */
const deepest = 1000;

/**
 * Rejects expressions that nest too deeply, such as a long chain of `+`.
 * @throws CelCompileError
 */
export function checkDepth(source: string, whole: Expression): void {
  const left: (readonly [expression: Expression, depth: number])[] = [[whole, 1]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [expression, depth] = next;
    if (depth > deepest) {
      const message = `expression recursion limit exceeded: ${deepest}`;
      throw new CelCompileError(source, [{ at: expression.at, message }]);
    }
    for (const child of childrenOf(expression)) left.push([child, depth + 1]);
  }
}
