import type { Document } from '../document.js';
import type { Expression } from '../expression/expression.js';
import type { SpecPath } from '../spec-problem.js';
import type { JoinOrders } from './join-orders.js';
import type { DocumentStep } from './linear-node.js';

/** A join condition on one source. */
export interface JoinCheck {
  /** Evaluates a document `{ [name]: object }`. */
  readonly expression: (document: Document) => boolean;
  readonly path: SpecPath;
}

/** A side of an equality. */
export interface JoinSide {
  /** Evaluates a document `{ [name]: object }`. */
  readonly expression: Expression;
  readonly path: SpecPath;
  /** Whether it yields a list of which one item must be equal: the second operand of `@in`. */
  readonly list: boolean;
  /** Whether null equals null, as in `@in`; in `@eq`, null equals nothing. */
  readonly nullCounts: boolean;
}

/** The plan of one source of a join. */
export interface JoinSource {
  /** Its member in the documents of the join. */
  readonly name: string;
  /**
   * Conditions on the object alone: an object that fails one is not kept. An error in a check or a side is
   * reported once, whether or not the object has join partners.
   */
  readonly checks: readonly JoinCheck[];
  readonly sides: readonly JoinSide[];
}

/** A `@join` stage, split into its parts. */
export interface JoinPlan {
  readonly path: SpecPath;
  /** The sources, in the order of the operator. */
  readonly sources: readonly JoinSource[];
  readonly orders: JoinOrders;
  /** The rest of the condition after checks and equalities; undefined if nothing is left. */
  readonly rest: DocumentStep | undefined;
  /** The whole condition, for a document of the join. */
  readonly condition: (document: Document) => boolean;
}
