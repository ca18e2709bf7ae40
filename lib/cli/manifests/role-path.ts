/** The file with the rules of the operator in the whole cluster. */
export const rolePath = 'config/rbac/role.yaml';

/** The file with those in its own namespace. */
export const ownRolePath = 'config/rbac/leader_election_role.yaml';

/** The kustomization of what is in namespaces other than the operator's. */
export const namespacesFolder = 'config/namespaces';

/** The file with those in other namespaces, where an operator is held to some. */
export const namespacedRolesPath = `${namespacesFolder}/roles.yaml`;
