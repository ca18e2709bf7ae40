import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { timeText } from '../go-json/go-time.js';
import type { ServerCore } from '../server-core.js';
import { findObject, storageKey } from '../server-core.js';
import { badRequest, conflict, notFound } from '../status-error.js';

/** The fields of a `v1` Binding. */
interface Binding extends UnstructuredObject {
  target?: { kind?: string; name?: string };
}

interface PodParts extends UnstructuredObject {
  spec?: { nodeName?: string; schedulingGates?: readonly unknown[] };
  status?: { conditions?: readonly Condition[] };
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

/**
 * Assigns the pod that a Binding names to a node: the only way to set `spec.nodeName` after the
 * create. As on the real server, no manager becomes the owner of the field.
 * @throws StatusError 404: the pod does not exist; 409: it has a node or scheduling gates, or is
 *   being deleted.
 */
export function bindPod(core: ServerCore, binding: UnstructuredObject): UnstructuredObject {
  const { name = '', namespace = '' } = binding.metadata;
  const kind = core.kinds.find('', 'v1', 'pods');
  const subject = { group: '', plural: 'pods', name };
  const pod = kind && (findObject(core, kind, { name, namespace }) as PodParts | undefined);
  if (kind === undefined || pod === undefined) throw notFound(subject);
  const nodeName = (binding as Binding).target?.name ?? '';
  if (nodeName === '') throw badRequest('target.name: Required value');
  const obstacle = obstacleTo(pod, name);
  if (obstacle !== undefined) throw conflict({ ...subject, plural: 'pods/binding' }, obstacle);
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timeText(core.clock.now()),
  };
  const annotations = { ...pod.metadata.annotations, ...binding.metadata.annotations };
  const metadata = {
    ...pod.metadata,
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
  const object: UnstructuredObject = {
    ...pod,
    metadata,
    spec: { ...pod.spec, nodeName },
    status: { ...pod.status, conditions: [...others, scheduled] },
  };
  const key = storageKey(namespace, name);
  return core.log.commit({ collection: kind.collection, key, object }).object;
}

function obstacleTo({ metadata, spec }: PodParts, name: string): string | undefined {
  if (metadata.deletionTimestamp !== undefined) {
    return `pod ${name} is being deleted, cannot be assigned to a host`;
  }
  if ((spec?.nodeName ?? '') !== '') {
    return `pod ${name} is already assigned to node "${spec?.nodeName ?? ''}"`;
  }
  return (spec?.schedulingGates ?? []).length > 0
    ? `pod ${name} has non-empty .spec.schedulingGates`
    : undefined;
}
