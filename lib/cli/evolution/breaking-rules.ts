import { error, warning } from './findings.js';
import type { Rule } from './findings.js';

/** The rules of `operator-builder breaking`. */
export const breakingRules = {
  'definition-removed': error('a CustomResourceDefinition is gone'),
  'scope-changed': error('the scope changes'),
  'names-changed': error('the kind, list kind or plural changes'),
  'version-removed': error('a version is gone, though objects are stored in it'),
  'version-unserved': error('a served version is no longer served'),
  'storage-changed': warning('another version is stored'),
  'conversion-changed': error('served versions lose their conversion webhook'),
  'subresource-changed': error('status or scale is added, removed or has other paths'),
  'selectable-field-removed': error('a field can no longer be used in field selectors'),
  'column-removed': warning('a column of kubectl get is gone'),
  'alias-removed': warning('a short name, singular or category is gone'),
  'field-removed': error('a field is gone: its values are dropped'),
  'type-changed': error('a field has another type'),
  'required-added': error('a field without a default becomes required'),
  'enum-narrowed': error('a value is no longer allowed'),
  'enum-widened': warning('an enum gets a value that clients may not know'),
  'bounds-tightened': error('a minimum is raised, or a maximum lowered'),
  'pattern-changed': error('a pattern is added or changed'),
  'format-changed': error('a format is added or changed'),
  'nullable-removed': error('null is no longer allowed'),
  'rule-added': error('a CEL rule is added or changed'),
  'validation-changed': error('allOf, anyOf, oneOf, not or an embedded resource is stricter'),
  'default-added': warning('a field gets a default'),
  'default-changed': error('a default is changed or removed'),
  'list-type-changed': error('a list has another type or other keys'),
  'map-type-changed': error('a map becomes atomic or granular'),
  'unknown-fields-pruned': error('fields without a schema are no longer kept, or get a schema'),
} satisfies Record<string, Rule>;

/** The name of a rule of `operator-builder breaking`. */
export type BreakingRule = keyof typeof breakingRules;
