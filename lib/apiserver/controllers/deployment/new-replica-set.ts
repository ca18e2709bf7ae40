import { ownerReferenceTo } from '../../../object/owner-reference.js';
import type { ObjectMeta } from '../../../object/kubernetes-object.js';
import type { Deployment, ReplicaSet } from '../../../object/kinds.js';
import { deepEqual } from '../../../object/deep-equal.js';
import { safeHash } from '../safe-hash.js';
import { newReplicaSetAnnotations, sizeAnnotations } from './revision-annotations.js';

/** The label that distinguishes the pods of a Deployment's ReplicaSets. */
export const podTemplateHashLabel = 'pod-template-hash';

const longestName = 253;

/** Revision and size of a ReplicaSet of {@link newReplicaSet}. */
export interface NewReplicaSetSize {
  readonly revision: number;
  readonly replicas: number;
  readonly maxSurge: number;
}

/** Returns the ReplicaSet for the Deployment's current template. */
export function newReplicaSet(deployment: Deployment, size: NewReplicaSetSize): ReplicaSet {
  const { metadata, spec, status } = deployment;
  const { template, selector, minReadySeconds, replicas: desired = 1 } = spec ?? {};
  const hash = safeHash(template, status?.collisionCount ?? 0);
  const labels = { ...template?.metadata?.labels, [podTemplateHashLabel]: hash };
  const copied = newReplicaSetAnnotations(deployment, {}, size.revision);
  const replicaSetMetadata: ObjectMeta = {
    name: `${(metadata.name ?? '').slice(0, longestName - hash.length - 1)}-${hash}`,
    namespace: metadata.namespace ?? '',
    labels,
    annotations: { ...copied, ...sizeAnnotations(desired, size.maxSurge) },
    ownerReferences: [ownerReferenceTo(deployment, { controller: true, blockOwnerDeletion: true })],
  };
  const matchLabels = { ...selector?.matchLabels, [podTemplateHashLabel]: hash };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: replicaSetMetadata,
    spec: {
      replicas: size.replicas,
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...template?.metadata, labels } },
    },
  };
}

/** Returns true if a ReplicaSet has the Deployment's template. */
export function hasTemplateOf(set: ReplicaSet, deployment: Deployment): boolean {
  return deepEqual(withoutHash(set.spec?.template), withoutHash(deployment.spec?.template));
}

type Template = NonNullable<ReplicaSet['spec']>['template'];

function withoutHash(template: Template): Template {
  const labels = Object.entries(template?.metadata?.labels ?? {});
  const kept = Object.fromEntries(labels.filter(([key]) => key !== podTemplateHashLabel));
  return { ...template, metadata: { ...template?.metadata, labels: kept } };
}
