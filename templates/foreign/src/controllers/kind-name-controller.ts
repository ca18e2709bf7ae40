import type { Operator } from 'operator-builder';
import { KindName } from '../api/v99alpha99/kind-name.js';

/** Describes how an object of another owner is reconciled. Apply only the fields that this operator manages. */
export function setupKindNameController(operator: Operator): void {
  operator.for(KindName).reconciles(({ object, logger }) => {
    // Declare the permissions for writes here with requires(…): they become rules in config/rbac/role.yaml.
    logger.info('reconciled', { generation: object.metadata.generation });
    return undefined;
  });
}
