import { diffObjects } from '../../object/diff-by-path.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { referenceTo } from '../../object/object-reference.js';
import type { ClusterState } from './cluster-state.js';
import type { States } from './compare-states.js';
import { finding } from './upgrade-report.js';
import type { Finding } from './upgrade-report.js';

type Labels = Readonly<Record<string, string>>;

/** Returns findings for Services that reach fewer of their previous pods, or none. */
export function cutTraffic({ before, after }: States): readonly Finding[] {
  return [...before].flatMap(([id, from]) => {
    const to = after.get(id);
    if (from.kind !== 'Service' || from.apiVersion !== 'v1' || to === undefined) return [];
    const reached = selected(from, before);
    if (reached.length === 0) return [];
    const ref = referenceTo(to);
    const changes = diffObjects(selectorOf(from), selectorOf(to)).map((change) => ({
      ...change,
      path: `spec.selector.${change.path}`,
    }));
    if (selected(to, after).length === 0) {
      const message = `it no longer selects a pod, of ${reached.length} before: requests to it fail`;
      const remedy = 'change the labels of pods and the selector of their Service together';
      return [finding('traffic', ref, { message, changes, remedy })];
    }
    const still = reached.filter(({ metadata }) => fits(selectorOf(to), metadata.labels)).length;
    if (still === reached.length) return [];
    const message = `it selects ${still} of the ${reached.length} pods that run, until new ones are ready`;
    const remedy =
      'give pods the new labels in one release, and change the selector in the one after';
    return [finding('traffic', ref, { message, changes, remedy })];
  });
}

function selected(service: UnstructuredObject, state: ClusterState): readonly UnstructuredObject[] {
  const { namespace } = service.metadata;
  return [...state.values()].filter(
    ({ kind, metadata }) =>
      kind === 'Pod' &&
      metadata.namespace === namespace &&
      fits(selectorOf(service), metadata.labels),
  );
}

/** Whether a selector matches; a Service without one has endpoints from elsewhere. */
function fits(selector: Labels, labels: Labels = {}): boolean {
  const wanted = Object.entries(selector);
  return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}

function selectorOf(service: UnstructuredObject): Labels {
  return (service['spec'] as { readonly selector?: Labels } | undefined)?.selector ?? {};
}
