import { admissionPolicyRules } from './admission-policies.js';
import { appsRules } from './apps.js';
import { batchRules } from './batch.js';
import { crdRules } from '../custom/crd.js';
import { clusterRules } from './cluster.js';
import { configRules } from './config.js';
import { eventRules } from './events.js';
import type { KindRules } from './kind-rules.js';
import { namespaceRules } from './namespace.js';
import { networkingRules } from './networking.js';
import { podRules } from './pod.js';
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
  ...admissionPolicyRules,
  ...appsRules,
  ...batchRules,
  ...clusterRules,
  ...configRules,
  ...eventRules,
  ...networkingRules,
  ...rbacRules,
  ...reviewRules,
  ...scalingRules,
  ...storageRules,
  '/v1/Namespace': namespaceRules,
  'apiextensions.k8s.io/v1/CustomResourceDefinition': crdRules,
  '/v1/Pod': podRules,
  '/v1/Service': serviceRules,
};
