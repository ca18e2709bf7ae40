import type { Operator } from 'operator-builder';
import { KindName } from '../api/v99alpha99/kind-name.js';

/** Describes how an object of another owner is reconciled: apply only fields that are the operator's. */
export function setupKindNameController(operator: Operator): void {
  operator.for(KindName).reconciles(({ object, logger }) => {
    // Rights for what is written here belong to requires(…), for config/rbac/role.yaml.
    logger.info('reconciled', { generation: object.metadata.generation });
    return undefined;
  });
}
