import { describeObject } from '../../object/describe-object.js';
import { RoleBinding } from '../../object/kinds.js';
import { refuse } from './new-object.js';
import type { ClusterRoleBindingOptions, RoleBindingOptions } from './object-options.js';

const apiGroup = 'rbac.authorization.k8s.io';

/** @throws OperatorError `InvalidObject`: the namespace of the ServiceAccount is missing. */
export function roleBindingBody(options: RoleBindingOptions): object {
  const { namespace, roleRef, serviceAccount: name, serviceAccountNamespace = namespace } = options;
  if (serviceAccountNamespace === undefined) {
    const problem =
      'serviceAccountNamespace: it has to be given where the binding has no namespace';
    refuse(describeObject(RoleBinding, options), problem);
  }
  return bindingBody(roleRef, { name, namespace: serviceAccountNamespace });
}

export function clusterRoleBindingBody(options: ClusterRoleBindingOptions): object {
  const { clusterRole, serviceAccount: name, serviceAccountNamespace: namespace } = options;
  return bindingBody({ kind: 'ClusterRole', name: clusterRole }, { name, namespace });
}

interface Subject {
  readonly name: string;
  readonly namespace: string;
}

function bindingBody({ kind, name }: RoleBindingOptions['roleRef'], subject: Subject): object {
  return {
    roleRef: { apiGroup, kind, name },
    subjects: [{ kind: 'ServiceAccount', name: subject.name, namespace: subject.namespace }],
  };
}
