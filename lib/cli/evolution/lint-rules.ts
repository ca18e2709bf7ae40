import type { Rule } from './findings.js';

const rules = {
  'invalid-schema': { level: 'error', about: 'a schema or CEL rule that the server refuses' },
  'conversion-loses-fields': {
    level: 'error',
    about: 'served versions with different fields and no conversion webhook',
  },
  'printer-column': { level: 'error', about: 'a column of a field that does not exist' },
  'selectable-field': {
    level: 'error',
    about: 'a selectable field that does not exist, or is not a string, integer or boolean',
  },
  'name-clash': {
    level: 'error',
    about: 'a short name of a built-in kind or of another definition',
  },
  conditions: {
    level: 'error',
    about: 'conditions without the list type `map` and the key `type`',
  },
  'kind-name': { level: 'warning', about: 'a kind that is not in CamelCase' },
  'version-name': { level: 'warning', about: 'a version unlike `v1`, `v1beta1` or `v1alpha1`' },
  'top-level-fields': { level: 'warning', about: 'fields beside `spec` and `status`' },
  'status-subresource': { level: 'warning', about: 'a `status` without its subresource' },
  'field-name': { level: 'warning', about: 'a field that is not in camelCase' },
  'no-floats': { level: 'warning', about: 'a floating-point number' },
  'unit-in-name': { level: 'warning', about: 'a duration as integer without its unit' },
  'time-name': { level: 'warning', about: 'a time named `…Timestamp` instead of `…Time`' },
  'enum-case': { level: 'warning', about: 'an enum with values that are not in CamelCase' },
  'list-type': { level: 'warning', about: 'a list of named objects without a list type' },
  'map-of-objects': { level: 'warning', about: 'a map of objects instead of a list with names' },
  'required-default': { level: 'warning', about: 'a required field with a default' },
  'preserve-unknown-fields': {
    level: 'warning',
    about: 'unknown fields kept in a whole object, `spec` or `status`, or beside known ones',
  },
  'rule-cost': { level: 'warning', about: 'a CEL rule near the cost limit of the server' },
  description: { level: 'warning', about: 'fields without a description' },
  'no-booleans': {
    ...{ level: 'warning', optional: true },
    about: 'a boolean, which can never get a third value',
  },
  bounds: {
    ...{ level: 'warning', optional: true },
    about: 'a string, list or map without a maximal size',
  },
  'no-phase': {
    ...{ level: 'warning', optional: true },
    about: 'a `phase` in the status, instead of conditions',
  },
} as const satisfies Record<string, Rule>;

/** The name of a rule of `operator-builder lint`. */
export type LintRule = keyof typeof rules;

/** The rules of `operator-builder lint`. */
export const lintRules: Readonly<Record<LintRule, Rule>> = rules;
