import type { KubernetesObject, ObjectKey } from '../../../object/kubernetes-object.js';
import {
  Deployment,
  HorizontalPodAutoscaler,
  ReplicaSet,
  StatefulSet,
} from '../../../object/kinds.js';
import { keyOf } from '../../../object/object-key.js';
import type { ResourceType } from '../../../object/resource-type.js';
import type { ControllerHost } from '../controller-host.js';
import { ObjectIndex } from '../object-index.js';
import { autoscalerStatus, boundedReplicas } from './autoscaler-status.js';

const autoscaler = 'horizontal-pod-autoscaler';

interface Scalable extends KubernetesObject {
  spec?: { replicas?: number | undefined } | undefined;
  status?: { replicas?: number | undefined } | undefined;
}

const scalable: readonly ResourceType<Scalable>[] = [Deployment, StatefulSet, ReplicaSet];

/**
 * Keeps the replicas of each HorizontalPodAutoscaler's target between `minReplicas` and `maxReplicas`.
 * Without metrics, it does not scale within these bounds, and the status reports that.
 */
export function startAutoscalerController(host: ControllerHost): void {
  const writer = host.writer(autoscaler);
  const reconcile = async (key: ObjectKey): Promise<void> => {
    const hpa = host.get(HorizontalPodAutoscaler, key);
    if (hpa === undefined) return;
    const { kind, name } = hpa.spec?.scaleTargetRef ?? {};
    const type = scalable.find((candidate) => candidate.kind === kind);
    const target =
      type && name !== undefined ? host.get(type, { namespace: key.namespace, name }) : undefined;
    const replicas = target && (target.spec?.replicas ?? 1);
    const bounded = boundedReplicas(hpa, replicas);
    if (target !== undefined && bounded !== undefined && bounded !== replicas) {
      await writer.update({ ...target, spec: { ...target.spec, replicas: bounded } });
    }
    const observed = target && { replicas: target.status?.replicas ?? 0, wanted: replicas ?? 1 };
    await writer.updateStatus(hpa, autoscalerStatus(hpa, observed, host.now()));
  };
  const queue = host.objectQueue(HorizontalPodAutoscaler, 'autoscalers', reconcile);
  const byTarget = new ObjectIndex(host, HorizontalPodAutoscaler, ({ spec }) => {
    const { kind = '', name = '' } = spec?.scaleTargetRef ?? {};
    return [`${kind} ${name}`];
  });
  for (const type of scalable) {
    host.watch(type, ({ object }) => {
      const { namespace, name = '' } = object.metadata;
      for (const hpa of byTarget.find(namespace, [`${type.kind} ${name}`])) queue.add(keyOf(hpa));
    });
  }
}
