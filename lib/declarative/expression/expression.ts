import type { Document } from '../document.js';

/**
 * A compiled expression: closures, nothing is interpreted per document. It never changes its input,
 * and what it returns may share parts of it.
 * @param document - what `$` is
 * @param element - what `$$` is, within `@map`, `@filter`, `@any`, `@all` and `@none`
 * @throws DataError the data does not fit: an operand of a wrong type, a list that is none.
 */
export type Expression = (document: Document, element?: unknown) => unknown;
