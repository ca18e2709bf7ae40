import { OperatorError } from '../system/index.js';
import { isJsonObject, memberOf } from './json.js';

/** One condition on an object's fields. */
export interface FieldTerm {
  /** The path, for example `metadata.name`. The supported paths depend on the kind. */
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/**
 * Parses a field selector: `metadata.name=web,status.phase!=Running`, with `\,`, `\=` and `\\` in values. An
 * empty text selects everything.
 * @returns the terms, all of which must hold
 * @throws OperatorError `InvalidSelector`
 */
export function parseFieldSelector(text: string): readonly FieldTerm[] {
  // A comma ends a term unless a backslash precedes it.
  const terms = text.match(/(?:\\[^]|[^\\,]|\\$)+/g) ?? [];
  return terms.map((term) => parseTerm(term, text));
}

/** Formats terms as a selector; the inverse of {@link parseFieldSelector}. */
export function formatFieldSelector(terms: readonly FieldTerm[]): string {
  return terms
    .map(({ field, operator, value }) => field + operator + value.replaceAll(/[\\,=]/g, '\\$&'))
    .join(',');
}

/**
 * Whether the selector matches `object`. An absent field has the value of an empty string, as on the API
 * server: `spec.nodeName=` selects Pods that no scheduler has placed.
 * @param selector - terms or a text; for many objects parse once
 * @param object - the object, or a function that returns the value of a field
 * @throws OperatorError `InvalidSelector`
 */
export function matchesFields(
  selector: string | readonly FieldTerm[],
  object: object | ((field: string) => string),
): boolean {
  const terms = typeof selector === 'string' ? parseFieldSelector(selector) : selector;
  const valueOf =
    typeof object === 'function'
      ? (object as (field: string) => string)
      : (field: string) => fieldValue(object, field);
  return terms.every(
    ({ field, operator, value }) => (valueOf(field) === value) === (operator === '='),
  );
}

/** Returns the value that a field selector compares: strings, numbers and booleans as text, else empty. */
export function fieldValue(object: object, field: string): string {
  let value: unknown = object;
  for (const name of field.split('.')) {
    value = isJsonObject(value) ? memberOf(value, name) : undefined;
  }
  const scalar =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return scalar ? String(value) : '';
}

function parseTerm(term: string, selector: string): FieldTerm {
  const [, field, sign, value] = /^([^]*?)(!=|==|=)([^]*)$/.exec(term) ?? [];
  const refuse = (why: string): never => {
    throw new OperatorError('InvalidSelector', `field selector ${selector}: ${term}: ${why}`);
  };
  if (field === undefined || value === undefined) return refuse('want field=value or field!=value');
  if (!/^(?:[^\\=]|\\[\\,=])*$/.test(value)) {
    return refuse("in a value, write '\\=' for '=' and '\\\\' for '\\'");
  }
  const operator = sign === '!=' ? '!=' : '=';
  return { field, operator, value: value.replaceAll(/\\([^])/g, '$1') };
}
