import type {
  RbacV1Subject,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1PolicyRule,
  V1Role,
  V1RoleBinding,
} from '@kubernetes/client-node';
import type { Wire } from '../../object/index.js';
import type { FieldErrors } from '../../crd/internal.js';
import { selects, validateLabelSelector } from './metadata.js';
import { deepEqual, pathSegmentProblems, subdomainProblems } from '../../object/index.js';
import type { KindRules } from './kind-rules.js';
import { typedRules } from './kind-rules.js';

type Role = Wire<V1Role | V1ClusterRole>;
type Binding = Wire<V1RoleBinding | V1ClusterRoleBinding>;

const group = 'rbac.authorization.k8s.io';

function validateRule(rule: Wire<V1PolicyRule>, namespaced: boolean, errors: FieldErrors): void {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const verbs = (rule.verbs as string[] | null) ?? [];
  if (verbs.length === 0) errors.required('verbs', 'verbs must contain at least one value');
  if (nonResourceURLs.length > 0) {
    if (namespaced) {
      const why = 'namespaced rules cannot apply to non-resource URLs';
      errors.invalid('nonResourceURLs', nonResourceURLs, why);
    }
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      const why = 'rules cannot apply to both regular resources and non-resource URLs';
      errors.invalid('nonResourceURLs', nonResourceURLs, why);
    }
    return;
  }
  if (apiGroups.length === 0) {
    errors.required('apiGroups', 'resource rules must supply at least one api group');
  }
  if (resources.length === 0) {
    errors.required('resources', 'resource rules must supply at least one resource');
  }
}

function validateAggregation({ aggregationRule }: Wire<V1ClusterRole>, errors: FieldErrors): void {
  if (aggregationRule === undefined) return;
  const { clusterRoleSelectors = [] } = aggregationRule;
  const field = 'aggregationRule.clusterRoleSelectors';
  if (clusterRoleSelectors.length === 0) {
    const why = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
    errors.required(field, why);
  }
  errors.each(field, clusterRoleSelectors, (selector, errors) => {
    validateLabelSelector(selector, errors);
    if (selects(selector, {}) === undefined) {
      errors.invalid('', undefined, 'invalid label selector.');
    }
  });
}

function roleRules(namespaced: boolean): KindRules {
  return typedRules<Role>({
    validate: (role, errors) => {
      // Decoded roles have null if the rules are missing.
      const rules = (role.rules as Role['rules'] | null) ?? [];
      errors.each('rules', rules, (rule, errors) => {
        validateRule(rule, namespaced, errors);
      });
      if (!namespaced) validateAggregation(role, errors);
    },
    createOnUpdate: true,
    nameFormat: 'path',
  });
}

function validateSubject(
  subject: Wire<RbacV1Subject>,
  namespaced: boolean,
  errors: FieldErrors,
): void {
  const { kind, name, namespace = '', apiGroup = '' } = subject;
  if (name === '') errors.required('name');
  if (kind === 'ServiceAccount') {
    if (name !== '') errors.invalidEach('name', name, subdomainProblems(name));
    errors.oneOf('apiGroup', apiGroup, ['']);
    if (!namespaced && namespace === '') errors.required('namespace');
  } else if (kind === 'User' || kind === 'Group') {
    errors.oneOf('apiGroup', apiGroup, [group]);
  } else {
    errors.notSupported('kind', kind, ['ServiceAccount', 'User', 'Group']);
  }
}

function bindingRules(namespaced: boolean): KindRules {
  const roleKinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  return typedRules<Binding>({
    defaults: ({ roleRef, subjects }) => {
      if (roleRef.apiGroup === '') roleRef.apiGroup = group;
      for (const subject of subjects ?? []) {
        if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ??= group;
      }
    },
    validate: ({ roleRef, subjects = [] }, errors) => {
      const { apiGroup, kind, name } = roleRef;
      errors.oneOf('roleRef.apiGroup', apiGroup, [group]);
      errors.oneOf('roleRef.kind', kind, roleKinds);
      if (name === '') errors.required('roleRef.name');
      errors.invalidEach('roleRef.name', name, pathSegmentProblems(name));
      errors.each('subjects', subjects, (subject, errors) => {
        validateSubject(subject, namespaced, errors);
      });
    },
    validateUpdate: ({ roleRef }, old, errors) => {
      if (deepEqual(roleRef, old.roleRef)) return;
      const { apiGroup: APIGroup, kind: Kind, name: Name } = roleRef;
      // The real server prints the internal type.
      errors.invalid('roleRef', { APIGroup, Kind, Name }, 'cannot change roleRef');
    },
    createOnUpdate: true,
    nameFormat: 'path',
  });
}

export const rbacRules: Readonly<Record<string, KindRules>> = {
  [`${group}/v1/Role`]: roleRules(true),
  [`${group}/v1/ClusterRole`]: roleRules(false),
  [`${group}/v1/RoleBinding`]: bindingRules(true),
  [`${group}/v1/ClusterRoleBinding`]: bindingRules(false),
};
