/**
 * The behavior of each built-in kind that its schema does not define: defaults, admission, validation, warnings.
 *
 * Start with `kind-rules.ts`, the interface of a kind's rules. Each group of kinds has a file
 * (`apps.ts`, `batch.ts`, `storage.ts`, …) that this file joins. The kinds share the parts of pods
 * (`pod-spec.ts`, then `containers.ts`, `volumes.ts`, `pod-placement.ts`, `security-context.ts`),
 * the checks of `metadata.ts`, and those of single values, `field-values.ts`.
 */
import { crdRules } from '../custom/crd.js';
import { admissionRules } from './admission.js';
import { admissionPolicyRules } from './admission-policies.js';
import { apiServiceRules } from './api-service.js';
import { appsRules } from './apps.js';
import { batchRules } from './batch.js';
import { certificateRules } from './certificates.js';
import { clusterRules } from './cluster.js';
import { configRules } from './config.js';
import { csiRules } from './csi.js';
import { eventRules } from './events.js';
import { flowControlRules } from './flow-control.js';
import type { KindRules } from './kind-rules.js';
import { limitRules } from './limits.js';
import { networkingRules } from './networking.js';
import { persistentVolumeRules } from './persistent-volume.js';
import { podRules } from './pod.js';
import { priorityRules } from './priority.js';
import { rbacRules } from './rbac.js';
import { reviewRules } from './reviews.js';
import { scalingRules } from './scaling.js';
import { serviceRules } from './service.js';
import { storageRules } from './storage.js';

/** Returns the rules of a built-in kind, or the common rules if it has no specific ones. */
export function builtinRules(group: string, version: string, kind: string): KindRules {
  return rules[`${group}/${version}/${kind}`] ?? {};
}

const rules: Readonly<Partial<Record<string, KindRules>>> = {
  ...admissionRules,
  ...admissionPolicyRules,
  ...apiServiceRules,
  ...appsRules,
  ...batchRules,
  ...certificateRules,
  ...clusterRules,
  ...configRules,
  ...csiRules,
  ...eventRules,
  ...flowControlRules,
  ...limitRules,
  ...networkingRules,
  ...priorityRules,
  ...rbacRules,
  ...reviewRules,
  ...scalingRules,
  ...storageRules,
  'apiextensions.k8s.io/v1/CustomResourceDefinition': crdRules,
  '/v1/PersistentVolume': persistentVolumeRules,
  '/v1/Pod': podRules,
  '/v1/Service': serviceRules,
};
