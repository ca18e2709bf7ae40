import { propertyOf } from '../../object/index.js';
import type { Schema } from '../../object/index.js';
import type { FieldErrors } from '../validation/field-errors.js';
import { junctorParts } from './schema-parts.js';

/** A schema that applies to a place of an object, and the structural schema of that place. */
interface Pair {
  readonly given: Schema;
  readonly givenField: string;
  /** Undefined: the structural schema does not define the place. */
  readonly structural: Schema | undefined;
  readonly field: string;
}

/**
 * Checks that the schemas in `allOf`, `anyOf`, `oneOf` and `not` of a root restrict only fields that the root
 * itself has.
 */
export function validateCompleteness(root: Schema, field: string, errors: FieldErrors): void {
  validateJunctorsOf({ given: root, givenField: field, structural: root, field }, errors);
}

function validateJunctorsOf(pair: Pair, errors: FieldErrors): void {
  for (const [path, given] of junctorParts(pair.given)) {
    validatePair({ ...pair, given, givenField: `${pair.givenField}.${path}` }, errors);
  }
}

function validatePair(pair: Pair, errors: FieldErrors): void {
  const { given, givenField, structural, field } = pair;
  if (structural === undefined) {
    errors.required(field, `because it is defined in ${givenField}`);
    return;
  }
  validateJunctorsOf(pair, errors);
  const inner = (part: Schema, known: Schema | undefined, path: string): void => {
    const at = { givenField: `${givenField}.${path}`, field: `${field}.${path}` };
    validatePair({ given: part, structural: known, ...at }, errors);
  };
  if (given.items !== undefined) inner(given.items, structural.items, 'items');
  for (const [name, part] of Object.entries(given.properties ?? {})) {
    inner(part, propertyOf(structural, name), `properties[${name}]`);
  }
}
