import { s } from '../../crd/index.js';
import type { Schema } from '../../object/schema.js';
import { phases } from '../lifecycle-status.js';

const time = s.string({ format: 'date-time' });

const condition = s.object(
  {
    type: s.string({ description: 'What it is about, for example Available.' }),
    status: s.string({ enum: ['True', 'False', 'Unknown'] }),
    reason: s.optional(s.string({ description: 'Why, for machines.' })),
    message: s.optional(s.string({ description: 'Why, for people.' })),
    lastHeartbeatTime: s.optional(time),
    lastTransitionTime: s.optional(time),
  },
  { description: 'One aspect of the state of the system.' },
);

/**
 * The properties that a lifecycle adds to a status, for `defineResource`. They infer to `LifecycleStatus`.
 *
 * @example
 * ```ts
 * const status = s.object({ ...lifecycleStatusProperties, url: s.optional(s.string()) });
 * ```
 */
export const lifecycleStatusProperties = {
  phase: s.optional(
    s.string({ enum: phases, description: 'How far the operator is with the system.' }),
  ),
  conditions: s.optional(s.array(condition, { listType: 'map', listMapKeys: ['type'] })),
  operatorVersion: s.optional(
    s.string({ description: 'The version of the operator that last looked at this.' }),
  ),
  targetVersion: s.optional(
    s.string({ description: 'The version that is being deployed, or was.' }),
  ),
  observedVersion: s.optional(s.string({ description: 'The version that is deployed.' })),
};

/** Returns the status schema of the kind `name`, in the form of a CRD. */
function lifecycleStatus(name: string): Schema {
  return s.object(lifecycleStatusProperties, { description: `The state of the ${name}.` });
}

/** Schemas for hand-written CRDs. */
export const openApi = { lifecycleStatus };
