import { readDocument } from '../kinds/documents.js';
import type { ServerCore } from '../server-core.js';
import { createObject } from '../writes/create-object.js';
import { withoutMembers } from '../without-members.js';
import { decodeObject } from '../writes/decode-object.js';

type Item = Readonly<Record<string, unknown>>;

/**
 * Creates the roles of a new cluster that people and operators use: `cluster-admin`, `admin`,
 * `edit`, `view`, `system:discovery`, `system:basic-user`, … The roles of the cluster's own
 * components are left out.
 */
export function createBootstrapRoles(core: ServerCore): void {
  const data = readDocument('bootstrap-roles') as { roles: Item[]; bindings: Item[] };
  createAll(core, { plural: 'clusterroles', items: data.roles });
  createAll(core, { plural: 'clusterrolebindings', items: data.bindings });
}

function createAll(
  core: ServerCore,
  { plural, items }: { readonly plural: string; readonly items: readonly Item[] },
): void {
  const kind = core.kinds.find('rbac.authorization.k8s.io', 'v1', plural);
  if (kind === undefined) throw new Error(`the data has no ${plural}`);
  for (const value of items) {
    const request = {
      kind,
      subresource: undefined,
      namespace: '',
      name: '',
      manager: 'kube-apiserver',
      dryRun: false,
      fieldValidation: 'Ignore' as const,
      warn: () => undefined,
    };
    // Roles with an aggregation rule get their rules from the other roles.
    const own = 'aggregationRule' in value ? withoutMembers(value, 'rules') : value;
    createObject(core, { request, object: decodeObject(request, { value: own }) });
  }
}
