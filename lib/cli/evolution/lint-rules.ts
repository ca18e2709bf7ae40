import { error, warning } from './findings.js';
import type { Rule } from './findings.js';

/** The rules of `operator-builder lint`. */
export const lintRules = {
  'invalid-schema': error('a schema or CEL rule that the server refuses'),
  'conversion-loses-fields': error(
    'served versions with different fields and no conversion webhook',
  ),
  'printer-column': error('a column of a field that does not exist'),
  'selectable-field': error(
    'a selectable field that does not exist, or is not a string, integer or boolean',
  ),
  'name-clash': error('a short name of a built-in kind or of another definition'),
  conditions: error('conditions without the list type `map` and the key `type`'),
  'kind-name': warning('a kind that is not in CamelCase'),
  'version-name': warning('a version unlike `v1`, `v1beta1` or `v1alpha1`'),
  'top-level-fields': warning('fields other than `spec` and `status`'),
  'status-subresource': warning('a `status` without its subresource'),
  'field-name': warning('a field that is not in camelCase'),
  'no-floats': warning('a floating-point number'),
  'unit-in-name': warning('an integer for a duration, without the unit in its name'),
  'time-name': warning('a time named `…Timestamp` instead of `…Time`'),
  'enum-case': warning('an enum with values that are not in CamelCase'),
  'list-type': warning('a list of named objects without a list type'),
  'map-of-objects': warning('a map of objects instead of a list with names'),
  'required-default': warning('a required field with a default'),
  'preserve-unknown-fields': warning(
    'unknown fields kept in a whole object, `spec` or `status`, or together with known ones',
  ),
  'rule-cost': warning('a CEL rule near the cost limit of the server'),
  description: warning('fields without a description'),
  'no-booleans': { ...warning('a boolean, which can never get a third value'), optional: true },
  bounds: { ...warning('a string, list or map without a maximal size'), optional: true },
  'no-phase': { ...warning('a `phase` in the status, instead of conditions'), optional: true },
} satisfies Record<string, Rule>;

/** The name of a rule of `operator-builder lint`. */
export type LintRule = keyof typeof lintRules;
