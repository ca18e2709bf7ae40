import type { Node, Pod } from '../../../object/kinds.js';
import { matchesLabels } from '../../../object/label-selector.js';
import type { LabelSelectorExpression } from '../../../object/label-selector.js';

/**
 * Returns true if a pod may run on a node, by node selector, required affinity and taints. Resources are
 * ignored.
 */
export function podFitsNode(pod: Pod, node: Node): boolean {
  return (
    nodeSelectorFits(pod, node) &&
    affinityFits(pod, node) &&
    (node.spec?.taints ?? []).every((taint) => tolerates(pod, taint)) &&
    (node.spec?.unschedulable !== true || tolerates(pod, unschedulable))
  );
}

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

const unschedulable: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

function nodeSelectorFits(pod: Pod, node: Node): boolean {
  const wanted = Object.entries(pod.spec?.nodeSelector ?? {});
  return wanted.every(([key, value]) => node.metadata.labels?.[key] === value);
}

function affinityFits(pod: Pod, node: Node): boolean {
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  const fields = { 'metadata.name': node.metadata.name ?? '' };
  return required.nodeSelectorTerms.some(({ matchExpressions = [], matchFields = [] }) => {
    // A term without requirements matches nothing.
    if (matchExpressions.length + matchFields.length === 0) return false;
    return allHold(matchExpressions, node.metadata.labels ?? {}) && allHold(matchFields, fields);
  });
}

function allHold(
  expressions: readonly LabelSelectorExpression[],
  labels: Readonly<Record<string, string>>,
): boolean {
  return expressions.every((expression) => {
    const { key, operator, values = [] } = expression;
    // Node affinity has two more operators than label selectors.
    if (operator === 'Gt' || operator === 'Lt') {
      return matchesLabels([{ key, operator, values }], labels);
    }
    return matchesLabels({ matchExpressions: [expression] }, labels);
  });
}

function tolerates(pod: Pod, taint: Taint): boolean {
  if (taint.effect === 'PreferNoSchedule') return true;
  return (pod.spec?.tolerations ?? []).some(({ key = '', operator, value = '', effect = '' }) => {
    if (effect !== '' && effect !== taint.effect) return false;
    if (operator === 'Exists') return key === '' || key === taint.key;
    return key === taint.key && value === (taint.value ?? '');
  });
}
