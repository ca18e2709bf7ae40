import { ownerReferenceTo } from '../../object/owner-reference.js';
import type { KubernetesObject, ObjectMeta } from '../../object/kubernetes-object.js';
import type { Pod, ReplicaSet } from '../../object/kinds.js';

/** The pod template of a workload. */
export type PodTemplate = NonNullable<NonNullable<ReplicaSet['spec']>['template']>;

// A generated name gets five more letters. It must be a valid label value, of at most 63 letters.
const longestPrefix = 58;

/** Returns the pod that `owner` creates from `template`. The server generates its name. */
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
