import type { Rule } from './findings.js';

const rules = {
  'definition-removed': { level: 'error', about: 'a CustomResourceDefinition is gone' },
  'scope-changed': { level: 'error', about: 'the scope changes' },
  'names-changed': { level: 'error', about: 'the kind, list kind or plural changes' },
  'version-removed': {
    level: 'error',
    about: 'a version is gone, though objects are stored in it',
  },
  'version-unserved': { level: 'error', about: 'a served version is no longer served' },
  'storage-changed': { level: 'warning', about: 'another version is stored' },
  'conversion-changed': { level: 'error', about: 'served versions lose their conversion webhook' },
  'subresource-changed': {
    level: 'error',
    about: 'status or scale is added, removed or has other paths',
  },
  'selectable-field-removed': { level: 'error', about: 'a field selector is refused' },
  'column-removed': { level: 'warning', about: 'a column of kubectl get is gone' },
  'alias-removed': { level: 'warning', about: 'a short name, singular or category is gone' },
  'field-removed': { level: 'error', about: 'a field is gone: its values are dropped' },
  'type-changed': { level: 'error', about: 'a field has another type' },
  'required-added': { level: 'error', about: 'a field without a default becomes required' },
  'enum-narrowed': { level: 'error', about: 'a value is no longer allowed' },
  'enum-widened': { level: 'warning', about: 'a value is new to clients' },
  'bounds-tightened': { level: 'error', about: 'a minimum is raised, or a maximum lowered' },
  'pattern-changed': { level: 'error', about: 'a pattern is added or changed' },
  'format-changed': { level: 'error', about: 'a format is added or changed' },
  'nullable-removed': { level: 'error', about: 'null is no longer allowed' },
  'rule-added': { level: 'error', about: 'a CEL rule is added or changed' },
  'validation-changed': {
    level: 'error',
    about: 'allOf, anyOf, oneOf, not or an embedded resource is stricter',
  },
  'default-added': { level: 'warning', about: 'a field gets a default' },
  'default-changed': { level: 'error', about: 'a default is changed or removed' },
  'list-type-changed': { level: 'error', about: 'a list has another type or other keys' },
  'map-type-changed': { level: 'error', about: 'a map becomes atomic or granular' },
  'unknown-fields-pruned': {
    level: 'error',
    about: 'fields without a schema are no longer kept, or get a schema',
  },
} as const satisfies Record<string, Rule>;

/** The name of a rule of `operator-builder breaking`. */
export type BreakingRule = keyof typeof rules;

/** The rules of `operator-builder breaking`. */
export const breakingRules: Readonly<Record<BreakingRule, Rule>> = rules;
