import { ownerReferenceTo } from '../../object/owner-reference.js';
import type { KubernetesObject, ObjectMeta } from '../../object/kubernetes-object.js';
import type { Pod, ReplicaSet } from '../../object/kinds.js';

/** A pod template as it stands in every workload. */
export type PodTemplate = NonNullable<NonNullable<ReplicaSet['spec']>['template']>;

// A generated name gets five letters more, and a pod's name is a label value too.
const longestPrefix = 58;

/** The pod that `owner` makes of `template`; its name is left to the server. */
export function podFromTemplate(template: PodTemplate, owner: KubernetesObject): Pod {
  const { namespace = '', name = '' } = owner.metadata;
  const { labels, annotations, finalizers } = (template.metadata ?? {}) as ObjectMeta;
  const metadata: ObjectMeta = {
    generateName: `${name}-`.slice(0, longestPrefix),
    namespace,
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(finalizers && { finalizers }),
    ownerReferences: [ownerReferenceTo(owner, { controller: true, blockOwnerDeletion: true })],
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata, ...(template.spec && { spec: template.spec }) };
}
