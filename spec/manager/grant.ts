import type { Client } from '../../lib/client/client.js';
import type { ClusterRole, ClusterRoleBinding } from '../../lib/object/kinds.js';

/** A rule of a ClusterRole. */
export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[] | undefined;
  readonly verbs: readonly string[];
}

/** Grants the rules to the user `operator`, or another one, in the whole cluster. */
export async function grant(
  admin: Client,
  rules: readonly Rule[],
  user = 'operator',
): Promise<void> {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: user };
  const role = { apiVersion, kind: 'ClusterRole', metadata, rules } as unknown as ClusterRole;
  const applying = { fieldManager: 'spec', force: true };
  await admin.apply(role, applying);
  const apiGroup = 'rbac.authorization.k8s.io';
  const binding: ClusterRoleBinding = {
    ...{ apiVersion, kind: 'ClusterRoleBinding', metadata },
    roleRef: { apiGroup, kind: 'ClusterRole', name: user },
    subjects: [{ apiGroup, kind: 'User', name: user }],
  };
  await admin.apply(binding, applying);
}
