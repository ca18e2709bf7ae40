import type { Expression } from './expression.js';

/** Returns the parts of an expression in source order. */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.type) {
    case 'literal':
    case 'identifier':
    case 'struct':
      return [];
    case 'select':
      return [expression.operand];
    case 'call':
      return expression.target === undefined
        ? expression.args
        : [expression.target, ...expression.args];
    case 'list':
      return expression.elements.map(({ value }) => value);
    case 'map':
      return expression.entries.flatMap(({ key, value }) => [key, value]);
    case 'comprehension': {
      const { range, filter, step } = expression;
      return filter === undefined ? [range, step] : [range, filter, step];
    }
    case 'optionalMap':
      return [expression.target, expression.body];
  }
}
