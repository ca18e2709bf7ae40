import { isJsonObject, memberOf } from './json.js';
import { invalidSelector } from './label-selector.js';
import type { KubernetesObject } from './kubernetes-object.js';
import { apiVersionOf } from './resource-type.js';
import type { TypeReference } from './resource-type.js';

/** One condition on an object's fields. */
export interface FieldTerm {
  /** The path, for example `metadata.name`. The supported paths depend on the kind. */
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/**
 * Parses a field selector: `metadata.name=web,status.phase!=Running`, with `\,`, `\=` and `\\` in values. An
 * empty string selects everything.
 * @returns the terms, all of which must hold
 * @throws OperatorError `InvalidSelector`
 */
export function parseFieldSelector(text: string): readonly FieldTerm[] {
  // A comma ends a term unless a backslash precedes it.
  const terms = text.match(/(?:\\[^]|[^\\,]|\\$)+/g) ?? [];
  return terms.map((term) => parseTerm(term, text));
}

/**
 * Whether the selector matches `object`. An absent field has the value of an empty string, as on the API server:
 * `spec.nodeName=` selects Pods that no scheduler has placed.
 * @param selector - terms or a string; to match many objects, parse the string before
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

/** For kinds of `v1`: the fields that API servers accept in field selectors, and whose stored text they compare. */
const textFields: ReadonlyMap<string, readonly string[]> = new Map([
  ['Namespace', ['status.phase']],
  [
    'Pod',
    [
      ...['spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName'],
      ...['status.phase', 'status.podIP', 'status.nominatedNodeName'],
    ],
  ],
  ['Secret', ['type']],
  ['Service', ['spec.clusterIP', 'spec.type']],
]);

/**
 * Returns true if API servers select objects of the kind by this field, and compare the text that is stored
 * there. They refuse other fields, or compute their values: `spec.unschedulable` of a Node without it is
 * `false`. They also select by the fields that a CustomResourceDefinition names, which are not known here.
 */
export function isPlainField(type: TypeReference<KubernetesObject>, field: string): boolean {
  if (field === 'metadata.name' || field === 'metadata.namespace') return true;
  return apiVersionOf(type) === 'v1' && textFields.get(type.kind)?.includes(field) === true;
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
  const what = `field selector ${selector}`;
  const [, field, sign, value] = /^([^]*?)(!=|==|=)([^]*)$/.exec(term) ?? [];
  if (field === undefined || value === undefined) {
    throw invalidSelector(what, `invalid selector: '${selector}'; can't understand '${term}'`);
  }
  const [right = ''] = /^(?:[^\\,=]|\\[\\,=])*/.exec(value) ?? [];
  const [wrong] = /^(?:\\[^]?|[^])/u.exec(value.slice(right.length)) ?? [];
  if (wrong !== undefined) throw invalidSelector(what, escapeProblem(wrong));
  const operator = sign === '!=' ? '!=' : '=';
  return { field, operator, value: value.replaceAll(/\\([^])/g, '$1') };
}

/**
 * Returns the API server's message for a wrong escape sequence or a wrong character. Go prints a character as a number.
 */
function escapeProblem(wrong: string): string {
  const why = wrong.startsWith('\\')
    ? `invalid escape sequence: ${wrong}`
    : `unescaped character in value: ${wrong.charCodeAt(0)}`;
  return `invalid field selector: ${why}`;
}
