import { CelError, CelList } from '../values.js';
import type { CelValue } from '../values.js';

/** Maximum cost of one evaluation, as on the API server. */
const mostPerCall = 1_000_000;

/** An evaluation exceeds its cost limit. Expressions cannot catch this error. */
export class CelCostError extends CelError {}

/**
 * Measures the cost of an evaluation: 1 per step, a tenth per character of text. The API server's count is
 * similar; near the limit the two may disagree.
 */
export class CostMeter {
  #spent = 0;
  readonly #most: number;

  /** @param most - the cost limit */
  constructor(most = mostPerCall) {
    this.#most = most;
  }

  /** The cost until now. */
  get spent(): number {
    return this.#spent;
  }

  /** @throws CelCostError */
  charge(cost: number): void {
    this.#spent += cost;
    if (this.#spent > this.#most) {
      throw new CelCostError('operation cancelled: actual cost limit exceeded');
    }
  }
}

/** Functions whose time grows with the product of their arguments' sizes. */
const products = new Set(['matches', 'find', 'findAll', 'indexOf', 'lastIndexOf', 'replace']);
const perCharacter = 0.1;
/** The cost of a check of rights. The cost limit allows two checks per evaluation. */
const rightsCheck = 350_000;

/**
 * Returns the actual cost of a call from the sizes of its strings and of the lists that it searches. `callCost`
 * estimates the maximum beforehand.
 */
export function spentOn(name: string, values: readonly CelValue[]): number {
  if (name === 'check') return rightsCheck;
  if (!products.has(name)) {
    return values.reduce((sum: number, value) => sum + sizeCost(name, value), 1);
  }
  const [text = 0, ...others] = values.map((value) =>
    typeof value === 'string' ? value.length : 0,
  );
  return 1 + (1 + text * perCharacter) * (1 + Math.max(0, ...others) * perCharacter * 2.5);
}

function sizeCost(name: string, value: CelValue): number {
  if (typeof value === 'string') return value.length * perCharacter;
  if (value instanceof Uint8Array) return value.length * perCharacter;
  // Index access and `size` do not traverse the list.
  if (!(value instanceof CelList) || name === '_[_]' || name === 'size') return 0;
  return value.items.length;
}
