import { withoutMember } from '../../object/index.js';
import type { Schema, StatusCause } from '../../object/index.js';
import { ruleTree } from '../rules/compile-rules.js';
import { validateRules } from '../rules/validate-rules.js';
import { FieldErrors } from './field-errors.js';
import { validateSchema } from './validate-schema.js';

/** A defaulted and pruned custom resource to validate. */
export interface ResourceCheck {
  /** The schema of the whole object. */
  readonly schema: Schema;
  readonly errors: FieldErrors;
  /** The stored object; undefined for a create. */
  readonly old?: Readonly<Record<string, unknown>> | undefined;
  /** Validates the status only. @defaultValue false */
  readonly statusOnly?: boolean;
  /** Receives the rule violations of unchanged parts. @defaultValue none */
  readonly warn?: (message: string) => void;
}

/**
 * Validates a custom resource like the API server, except its metadata. Checks the schema first, and the CEL
 * rules only if the object has the right form.
 */
export function validateResource(
  object: Readonly<Record<string, unknown>>,
  check: ResourceCheck,
): void {
  const { schema, errors, old, statusOnly = false, warn } = check;
  const own = new FieldErrors();
  if (statusOnly) validateStatus(schema.properties?.['status'], [object, old], own);
  // The whole object never counts as unchanged: its parts are compared one by one.
  else validateSchema(object, { schema, path: '', errors: own, old: withoutMeta(old) });
  const isTolerated = own.causes.some(isOfList) && hasListProblem(old, schema);
  errors.append(own.causes.filter((cause) => !isTolerated || !isOfList(cause)));
  if (ruleTree(schema, true) === undefined) return;
  if (own.causes.some(({ reason = '' }) => blocking.has(reason))) {
    errors.invalid('<nil>', undefined, unchecked);
    return;
  }
  const isUpdate = old !== undefined;
  const root = { schema, path: '', errors, old, isRoot: true, isUpdate };
  validateRules(object, { ...root, ...(warn !== undefined && { warn }) });
}

const listType = 'must be an object for an array of list-type map';

/** Whether a problem is one of a set or a list-map: a repeated item, or one that is not an object. */
function isOfList({ reason, message = '' }: StatusCause): boolean {
  return reason === 'FieldValueDuplicate' || message.endsWith(listType);
}

/** Returns whether the old object already has a problem of a set or a list-map. An update may then add others. */
function hasListProblem(old: ResourceCheck['old'], schema: Schema): boolean {
  if (old === undefined) return false;
  const before = new FieldErrors();
  validateSchema(withoutMeta(old), { schema, path: '', errors: before, old: undefined });
  return before.causes.some(isOfList);
}

const unchecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** Causes that prevent the evaluation of rules. */
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

/** Validates a status separately: messages omit its path, fields keep it. */
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
  // A null status equals an absent one: that is not a change.
  if (status === null && (old?.['status'] ?? null) === null) return;
  const own = new FieldErrors();
  validateSchema(status, { schema, path: '', errors: own, old: old?.['status'] });
  for (const cause of own.causes) {
    const { field = '' } = cause;
    errors.causes.push({ ...cause, field: field === '' ? 'status' : `status.${field}` });
  }
}
