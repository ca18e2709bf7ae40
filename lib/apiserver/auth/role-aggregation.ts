import type { V1ClusterRole } from '@kubernetes/client-node';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Wire } from '../../object/wire.js';
import { findObject } from '../server-core.js';
import type { ServerCore } from '../server-core.js';
import { selects } from '../validation/label-selector.js';
import { deepEqual } from '../../object/deep-equal.js';
import { decodeApplied } from '../writes/decode-object.js';
import { applyFields } from '../writes/managed-fields.js';
import { updateObject } from '../writes/update-object.js';
import type { WriteRequest } from '../writes/write-request.js';
import type { PolicyRule } from './policy-rule.js';

const group = 'rbac.authorization.k8s.io';
const collection = `${group}/clusterroles`;

type ClusterRole = UnstructuredObject & Wire<V1ClusterRole>;

/**
 * Keeps the rules of ClusterRoles with an `aggregationRule` equal to the union of the rules of the
 * selected roles. It runs within the commit of a change, so that the rules are current when the
 * client gets its answer.
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
  const kind = core.kinds.find(group, 'v1', 'clusterroles');
  if (kind === undefined) return;
  const { name = '' } = role.metadata;
  const write: WriteRequest = {
    kind,
    subresource: undefined,
    namespace: '',
    name,
    manager: 'clusterrole-aggregation-controller',
    dryRun: false,
    fieldValidation: 'Ignore',
    warn: () => undefined,
  };
  const live = findObject(core, kind, { namespace: '', name });
  if (live === undefined) return;
  const applied = {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRole',
    metadata: { name },
    rules,
  } as unknown as UnstructuredObject;
  const merged = applyFields(core, { write, applied, force: true }, live);
  updateObject(core, { request: write, live, next: decodeApplied(write, merged), tracked: true });
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
