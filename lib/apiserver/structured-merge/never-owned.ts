import { fieldPath } from '../../object/field-path.js';
import { FieldSet } from '../../object/field-set.js';

/** Fields without an owner: those that identify an object, and those that only the server writes. */
export const neverOwned = FieldSet.of(
  ...['apiVersion', 'kind', 'metadata'].map((name) => fieldPath(name)),
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => fieldPath('metadata', name)),
);
