import type { FieldPath } from '../../object/field-path.js';
import { OperatorError } from '../../system/operator-error.js';

/** A field of an apply that another manager owns with another value. */
export interface FieldConflict {
  /** The name of the manager that owns the field. */
  readonly manager: string;
  /**
   * The text by which the server names that manager: `"kubectl" using v1`,
   * `"hpa" with subresource "scale"`.
   */
  readonly owner: string;
  /**
   * The field as the server writes it: `.spec.replicas`,
   * `.spec.ports[port=80,protocol="TCP"].targetPort`.
   */
  readonly field: string;
  readonly path: FieldPath;
}

/**
 * An apply without `force` would change fields of other managers: 409, reason `Conflict`, one cause
 * `FieldManagerConflict` per field. The message is that of the `Status`.
 */
export class ApplyConflictError extends OperatorError {
  readonly conflicts: readonly FieldConflict[];

  constructor(conflicts: readonly FieldConflict[]) {
    super('ApplyConflict', conflictMessage(conflicts));
    this.conflicts = conflicts;
  }

  /** The `details.causes` of the `Status`. */
  get causes(): { reason: string; message: string; field: string }[] {
    return this.conflicts.map(({ owner, field }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${owner}`,
      field,
    }));
  }
}

function conflictMessage(conflicts: readonly FieldConflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${first.owner}: ${first.field}`;
  }
  const owners = [...new Set(conflicts.map(({ owner }) => owner))];
  const lines = owners.flatMap((owner) => [
    `conflicts with ${owner}:`,
    ...conflicts.filter((conflict) => conflict.owner === owner).map(({ field }) => `- ${field}`),
  ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

/**
 * An object does not fit its schema, so the server cannot compute its field set: an undeclared
 * field, a wrong type, or two list entries with one key. The real server answers 500 without a
 * reason. The message is that of the `Status`.
 */
export class TypedConversionError extends OperatorError {
  constructor(message: string) {
    super('InvalidObject', message);
  }
}

/** An apply request is invalid: 400, reason `BadRequest`. */
export class BadApplyError extends OperatorError {
  constructor(message: string) {
    super('InvalidPatch', message);
  }
}
