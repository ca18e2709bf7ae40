import type { Schema } from '../../object/index.js';
import { fixedText } from '../cel/go.js';
import { boundless, times } from '../cel/cost/size-range.js';
import type { SizesByPath } from '../cel/cost/estimate-cost.js';
import type { FieldErrors } from '../validation/field-errors.js';
import type { SchemaSize } from './schema-size.js';

/** Maximum estimated cost of one rule over all values that it is evaluated for. */
export const mostPerRule = 10_000_000;
/** Maximum estimated cost of all rules of a schema. */
const mostPerSchema = 100_000_000;

/** The maximum number of values at a schema; undefined if only the size of a request limits it. */
export type Occurrences = number | undefined;

/** Returns the maximum number of values of a schema's parts. */
export function occurrencesWithin(schema: Schema, own: Occurrences): Occurrences {
  if (own === undefined) return undefined;
  const { type, additionalProperties = false, maxItems, maxProperties } = schema;
  const isMap = type === 'object' && additionalProperties !== false;
  if (!isMap && type !== 'array') return own;
  const most = isMap ? maxProperties : maxItems;
  return most === undefined ? undefined : times(own, Math.max(0, most));
}

/** Returns a function that looks up the maximum size of a value for rules. */
export function sizesBelow(root: SchemaSize): SizesByPath {
  return (path) => {
    let size: SchemaSize | undefined = root;
    for (const step of path) {
      if (step === '@items' || step === '@values') size = size.item;
      else size = step === '@keys' ? size.key : size.fields?.get(step);
      if (size === undefined) return undefined;
    }
    return { min: 0, max: size.largest };
  };
}

interface Expense {
  readonly field: string;
  readonly cost: number;
}

/** Sums the estimated costs of one schema's rules and rejects excessive ones. */
export class RuleBudget {
  #total = 0;
  #most: readonly Expense[] = [];

  /** @param what - for example `estimated rule cost` */
  observe(what: string, { field, cost }: Expense, errors: FieldErrors): void {
    if (cost > mostPerRule) errors.forbidden(field, excess(what, cost / mostPerRule));
    this.#total = Math.min(this.#total + cost, boundless);
    if (cost < mostPerSchema / 100) return;
    const sorted = [...this.#most, { field, cost }].toSorted((one, other) => other.cost - one.cost);
    this.#most = sorted.slice(0, 4);
  }

  /** Rejects the schema at `field` if the total cost of its rules is too high. */
  check(field: string, errors: FieldErrors): void {
    if (this.#total <= mostPerSchema) return;
    const why =
      'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    for (const expense of this.#most) errors.forbidden(expense.field, why);
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    errors.forbidden(field, excess(what, this.#total / mostPerSchema));
  }
}

function excess(what: string, factor: number): string {
  const remedy =
    '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';
  return `${what} exceeds budget by factor of ${factorText(factor)} ${remedy}`;
}

function factorText(factor: number): string {
  if (factor > 100) return 'more than 100x';
  return `${fixedText(factor, factor < 1.5 ? 6 : 1)}x`;
}
