import type { ControllerRevision, DaemonSet, Node, Pod } from '../../../object/kinds.js';
import { templateOf } from '../controller-revisions.js';
import { podFitsNode } from '../pod/node-fit.js';
import { podFromTemplate } from '../pod-template.js';
import type { PodTemplate } from '../pod-template.js';

/** The label with the hash of the revision, on pods and on ControllerRevisions. */
export const revisionHashLabel = 'controller-revision-hash';
const generationAnnotation = 'deprecated.daemonset.template.generation';
const generationLabel = 'pod-template-generation';

type PodSpec = NonNullable<Pod['spec']>;
type Toleration = NonNullable<PodSpec['tolerations']>[number];

// Problems of a node do not evict its daemon pods.
const daemonTolerations: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

/** Returns the pod of `revision` for one node. */
export function daemonPod(set: DaemonSet, revision: ControllerRevision, nodeName: string): Pod {
  const pod = podFor(set, templateOf(revision));
  const generation = set.metadata.annotations?.[generationAnnotation];
  const labels = {
    ...pod.metadata.labels,
    [revisionHashLabel]: revision.metadata.labels?.[revisionHashLabel] ?? '',
    ...(generation !== undefined && { [generationLabel]: generation }),
  };
  const spec = { ...pod.spec, affinity: pinnedTo(nodeName, pod.spec) } as PodSpec;
  return { ...pod, metadata: { ...pod.metadata, labels }, spec };
}

/** Returns true if the pods of `set` may run on `node`. */
export function daemonFitsNode(set: DaemonSet, node: Node): boolean {
  return podFitsNode(podFor(set, set.spec?.template ?? {}), node);
}

/** Returns the node of a DaemonSet's pod, even before the pod is scheduled. */
export function nodeNameOf({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? []) {
    const field = matchFields.find(({ key }) => key === 'metadata.name');
    if (field?.values?.[0] !== undefined) return field.values[0];
  }
  return undefined;
}

function podFor(set: DaemonSet, template: PodTemplate): Pod {
  const pod = podFromTemplate(template, set);
  const given = pod.spec?.tolerations ?? [];
  const tolerations = [...given, ...daemonTolerations];
  return { ...pod, spec: { ...pod.spec, tolerations } as PodSpec };
}

function pinnedTo(nodeName: string, spec: PodSpec | undefined): PodSpec['affinity'] {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  return {
    ...spec?.affinity,
    nodeAffinity: {
      ...spec?.affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: required,
    },
  };
}
