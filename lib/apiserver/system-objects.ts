import type { V1ClusterRole } from '@kubernetes/client-node';
import { deepEqual, withoutMembers } from '../object/index.js';
import type { UnstructuredObject, Wire } from '../object/index.js';
import type { PolicyRule } from './auth/policy-rule.js';
import { readDocument } from './kinds/documents.js';
import { findObject } from './server-core.js';
import type { ServerCore } from './server-core.js';
import { selects } from './rules/metadata.js';
import { createAtStart, ownRequest } from './writes/own-writes.js';
import { decodeApplied } from './writes/write-request.js';
import { applyFields } from './writes/managed-fields.js';
import { immortalNamespaces } from './rules/cluster.js';
import { systemPriorityClasses } from './rules/priority.js';
import { updateObject } from './writes/update-object.js';

const rbac = 'rbac.authorization.k8s.io';
const collection = `${rbac}/clusterroles`;

type Item = Readonly<Record<string, unknown>>;

/** Creates the namespaces and the PriorityClasses of a new cluster. */
export function createSystemObjects(core: ServerCore): void {
  const items = [...immortalNamespaces, 'kube-node-lease'].map((name) => {
    return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  });
  createAtStart(core, { group: '', plural: 'namespaces', items });
  const group = 'scheduling.k8s.io';
  createAtStart(core, { group, plural: 'priorityclasses', items: systemPriorityClasses });
}

/**
 * Creates the roles of a new cluster that people and operators use: `cluster-admin`, `admin`,
 * `edit`, `view`, `system:discovery`, `system:basic-user`, … The roles of the cluster's own
 * components are left out.
 */
export function createBootstrapRoles(core: ServerCore): void {
  const data = readDocument('bootstrap-roles') as { roles: Item[]; bindings: Item[] };
  // Roles with an aggregation rule get their rules from the other roles.
  const roles = data.roles.map((role) =>
    'aggregationRule' in role ? withoutMembers(role, 'rules') : role,
  );
  createAtStart(core, { group: rbac, plural: 'clusterroles', items: roles });
  createAtStart(core, { group: rbac, plural: 'clusterrolebindings', items: data.bindings });
}

type ClusterRole = UnstructuredObject & Wire<V1ClusterRole>;

/**
 * Keeps the rules of ClusterRoles with an `aggregationRule` equal to the union of the rules of the selected
 * roles. Runs within the commit of a change, so that the rules are current when the client gets its answer.
 */
export function aggregateRoles(core: ServerCore): void {
  core.log.subscribe((entry) => {
    if (entry.collection !== collection) return;
    const roles = core.log.collection(collection);
    for (const key of roles.keys('')) {
      const role = roles.get(key) as ClusterRole | undefined;
      if (role?.aggregationRule !== undefined) aggregate(core, role);
    }
  });
}

function aggregate(core: ServerCore, role: ClusterRole): void {
  const rules = aggregatedRules(core, role);
  const own = (role.rules as PolicyRule[] | null | undefined) ?? [];
  if (deepEqual(rules, own)) return;
  const kind = core.kinds.find(rbac, 'v1', 'clusterroles');
  if (kind === undefined) return;
  const { name = '' } = role.metadata;
  const write = ownRequest(kind, { name, manager: 'clusterrole-aggregation-controller' });
  const live = findObject(core, kind, { namespace: '', name });
  if (live === undefined) return;
  const applied = {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name },
    rules,
  } as unknown as UnstructuredObject;
  const merged = applyFields(core, { write, applied, force: true }, live);
  updateObject(core, {
    request: write,
    live,
    next: decodeApplied(write, merged, applied),
    tracked: true,
  });
}

function aggregatedRules(core: ServerCore, role: ClusterRole): readonly PolicyRule[] {
  const rules: PolicyRule[] = [];
  const roles = core.log.collection(collection);
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    for (const key of roles.keys('')) {
      const other = roles.get(key) as ClusterRole | undefined;
      if (other === undefined || key === role.metadata.name) continue;
      if (selects(selector, other.metadata.labels) !== true) continue;
      for (const rule of other.rules ?? []) {
        if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule);
      }
    }
  }
  return rules;
}
