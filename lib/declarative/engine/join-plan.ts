import type { Document } from '../document.js';
import type { Expression } from '../expression/expression.js';
import type { SpecPath } from '../spec-problem.js';
import type { JoinOrders } from './join-orders.js';
import type { DocumentStep } from './linear-node.js';

/** A condition of a join over one source. */
export interface JoinCheck {
  /** Of a document `{ [name]: object }`. */
  readonly expression: (document: Document) => boolean;
  readonly path: SpecPath;
}

/** A side of an equality. */
export interface JoinSide {
  /** Of a document `{ [name]: object }`. */
  readonly expression: Expression;
  readonly path: SpecPath;
  /** Whether it gives a list, and one of its items is to be equal: the second operand of `@in`. */
  readonly list: boolean;
  /** Whether null equals null, as `@in` has it; for `@eq` it equals nothing. */
  readonly nullCounts: boolean;
}

/** What a join keeps of a source. */
export interface JoinSource {
  /** Its member in the documents of the join. */
  readonly name: string;
  /**
   * What an object must fulfil by itself: one that does not is not kept. One for which this, or a side
   * after it, fails is told of once, whether or not there is something for it to meet.
   */
  readonly checks: readonly JoinCheck[];
  readonly sides: readonly JoinSide[];
}

/** A stage `@join`, taken apart. */
export interface JoinPlan {
  readonly path: SpecPath;
  /** In the order of the operator's sources. */
  readonly sources: readonly JoinSource[];
  readonly orders: JoinOrders;
  /** What is left of the condition once objects and equalities fit; undefined: nothing. */
  readonly rest: DocumentStep | undefined;
  /** The whole of it, of a document of the join. */
  readonly condition: (document: Document) => boolean;
}
