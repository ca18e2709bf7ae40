import type {
  V1MatchResources,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
} from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { deepEqual } from '../../object/deep-equal.js';
import type { KindRules } from './kind-rules.js';
import { typedRules } from './typed-rules.js';

function fillIn(resources: Wire<V1MatchResources> | undefined): void {
  if (resources === undefined) return;
  resources.matchPolicy ??= 'Equivalent';
  resources.namespaceSelector ??= {};
  resources.objectSelector ??= {};
  const { resourceRules = [], excludeResourceRules = [] } = resources;
  for (const rule of [...resourceRules, ...excludeResourceRules]) rule.scope ??= '*';
}

const generations: Pick<KindRules, 'specChanged'> = {
  specChanged: (object, old) => !deepEqual(object['spec'], old['spec']),
};

const policyRules: KindRules = typedRules<Wire<V1ValidatingAdmissionPolicy>>(
  {
    defaults: ({ spec }) => {
      if (spec === undefined) return;
      spec.failurePolicy ??= 'Fail';
      fillIn(spec.matchConstraints);
    },
  },
  generations,
);

const bindingRules: KindRules = typedRules<Wire<V1ValidatingAdmissionPolicyBinding>>(
  { defaults: ({ spec }) => fillIn(spec?.matchResources) },
  generations,
);

const group = 'admissionregistration.k8s.io/v1';

/** The rules of ValidatingAdmissionPolicies: their defaults. */
export const admissionPolicyRules: Readonly<Record<string, KindRules>> = {
  [`${group}/ValidatingAdmissionPolicy`]: policyRules,
  [`${group}/ValidatingAdmissionPolicyBinding`]: bindingRules,
};
