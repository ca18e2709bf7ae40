import isEqual from 'lodash/isEqual.js';
import { allowed, denied, validatingWebhook } from 'operator-builder';
import type { AdmissionRequest, Allowed, Denied, Webhook } from 'operator-builder';
import { ParseableTenant } from './tenant.js';
import { tenantProblems } from './tenant-problems.js';

/** The name of its ValidatingWebhookConfiguration, and of the Secret with its certificate. */
export const webhookName = 'parseable-operator';

/** Tells people what is wrong with a tenant before it is stored. */
export const tenantWebhook: Webhook = validatingWebhook(ParseableTenant, decide);

function decide({ object, oldObject }: AdmissionRequest<ParseableTenant>): Allowed | Denied {
  if (object === undefined) return allowed();
  const problems = tenantProblems(object);
  if (problems.length === 0) return allowed();
  const told = problems.map(({ path, message }) => `${path}: ${message}`);
  // A tenant that was bad before can still be labelled, and its finalizers can still be taken away.
  if (oldObject !== undefined && isEqual(oldObject.spec, object.spec)) return allowed(told);
  const causes = problems.map(({ path, message }) => ({ field: path, message }));
  return denied(told.join('; '), { causes });
}
