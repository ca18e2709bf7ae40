import { allowed } from 'operator-builder';
import type { Webhook } from 'operator-builder';
import { KindName } from '../../api/v98alpha98/kind-name.js';
// +operator-builder:if defaulting
import { mutated, mutatingWebhook } from 'operator-builder';
// +operator-builder:end
// +operator-builder:if validation
import { denied, validatingWebhook } from 'operator-builder';
// +operator-builder:end
// +operator-builder:scaffold:imports

// Express checks in the schema or its rules if possible. Only a webhook knows the requesting user.
const createdBy = 'groupname.domain.example/created-by';

/** Admission webhooks for objects of KindName. */
export const kindNameV98alpha98Webhooks: readonly Webhook[] = [
  // +operator-builder:if defaulting
  // Completes an object before it is validated and stored. It may be called twice for one write.
  mutatingWebhook(KindName, ({ object, operation, user }) => {
    if (object === undefined || operation !== 'CREATE') return allowed();
    const annotations = { ...object.metadata.annotations, [createdBy]: user.username };
    return mutated({ ...object, metadata: { ...object.metadata, annotations } });
  }),
  // +operator-builder:end
  // +operator-builder:if validation
  // Decides whether an object may be stored. It must not have side effects, and must be quick: a user waits.
  validatingWebhook(KindName, ({ object, oldObject }) => {
    const before = oldObject?.metadata.annotations?.[createdBy];
    const after = object?.metadata.annotations?.[createdBy];
    if (before === undefined || before === after) return allowed();
    const causes = [{ field: 'metadata.annotations', message: `${createdBy} is immutable` }];
    return denied(`the annotation ${createdBy} can't be changed`, { causes });
  }),
  // +operator-builder:end
  // +operator-builder:scaffold:webhooks
];
