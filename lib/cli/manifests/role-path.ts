/** The file with the rules of the operator in the whole cluster. */
export const rolePath = 'config/rbac/role.yaml';

/** The file with those in its own namespace. */
export const ownRolePath = 'config/rbac/leader_election_role.yaml';

/** The file with those in other namespaces, where an operator is held to some. */
export const namespacedRolesPath = 'config/namespaces/roles.yaml';
