/** The file with the operator's cluster-wide rules. */
export const rolePath = 'config/rbac/role.yaml';

/** The file with the rules in the operator's namespace. */
export const ownRolePath = 'config/rbac/leader_election_role.yaml';

/** The kustomization of objects in other namespaces. */
export const namespacesFolder = 'config/namespaces';

/** The file with the rules in other namespaces, for an operator limited to some. */
export const namespacedRolesPath = `${namespacesFolder}/roles.yaml`;
