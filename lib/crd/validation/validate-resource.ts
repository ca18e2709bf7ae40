import { withoutMember } from '../../object/json.js';
import type { Schema } from '../../object/schema.js';
import { ruleTree } from '../rules/rule-tree.js';
import { validateRules } from '../rules/validate-rules.js';
import { FieldErrors } from './field-errors.js';
import { validateSchema } from './validate-schema.js';

/** A custom resource to check, defaulted and pruned. */
export interface ResourceCheck {
  /** The schema of the whole object. */
  readonly schema: Schema;
  readonly errors: FieldErrors;
  /** What is stored; undefined: it is a create. */
  readonly old?: Readonly<Record<string, unknown>> | undefined;
  /** Whether only the status is written. @defaultValue false */
  readonly statusOnly?: boolean;
  /** Gets what rules say of parts that did not change. @defaultValue nobody */
  readonly warn?: (message: string) => void;
}

/**
 * What the API server checks of a custom resource, beside its metadata: the schema, then the CEL
 * rules, unless the object is not even of the right form.
 */
export function validateResource(
  object: Readonly<Record<string, unknown>>,
  check: ResourceCheck,
): void {
  const { schema, errors, old, statusOnly = false, warn } = check;
  const own = new FieldErrors();
  if (statusOnly) validateStatus(schema.properties?.['status'], [object, old], own);
  // The whole object is never unchanged: its parts are compared one by one.
  else validateSchema(object, { schema, path: '', errors: own, old: withoutMeta(old) });
  errors.causes.push(...own.causes);
  if (ruleTree(schema, true) === undefined) return;
  if (own.causes.some(({ reason = '' }) => blocking.has(reason))) {
    errors.invalid('<nil>', undefined, unchecked);
    return;
  }
  const isUpdate = old !== undefined;
  const root = { schema, path: '', errors, old, isRoot: true, isUpdate };
  validateRules(object, { ...root, ...(warn !== undefined && { warn }) });
}

const unchecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** Rules are not evaluated on objects that are wrong in one of these ways. */
const blocking: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

function withoutMeta(object: Readonly<Record<string, unknown>> | undefined): unknown {
  return object && withoutMember(object, 'metadata');
}

/** A status is checked by itself: messages leave out where it is, fields don't. */
function validateStatus(
  schema: Schema | undefined,
  [object, old]: readonly [
    Readonly<Record<string, unknown>>,
    Readonly<Record<string, unknown>> | undefined,
  ],
  errors: FieldErrors,
): void {
  const { status } = object;
  if (schema === undefined || status === undefined) return;
  // Where there was none a null changes nothing.
  if (status === null && (old?.['status'] ?? null) === null) return;
  const own = new FieldErrors();
  validateSchema(status, { schema, path: '', errors: own, old: old?.['status'] });
  for (const cause of own.causes) {
    const { field = '' } = cause;
    errors.causes.push({ ...cause, field: field === '' ? 'status' : `status.${field}` });
  }
}
