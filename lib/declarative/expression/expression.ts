import type { Document } from '../document.js';

/**
 * A compiled expression, made of closures. It never changes its input; its result may share parts of the
 * input.
 * @param document - the value of `$`
 * @param element - the value of `$$`, within `@map`, `@filter`, `@any`, `@all` and `@none`
 * @throws DataError the data does not fit: an operand has a wrong type.
 */
export type Expression = (document: Document, element?: unknown) => unknown;
