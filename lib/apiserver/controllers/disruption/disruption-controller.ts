import type { KubernetesObject, ObjectKey } from '../../../object/kubernetes-object.js';
import {
  Deployment,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  StatefulSet,
} from '../../../object/kinds.js';
import { keyOf } from '../../../object/object-key.js';
import { controllerOf } from '../../../object/owner-reference.js';
import type { ResourceType } from '../../../object/resource-type.js';
import type { ControllerHost } from '../controller-host.js';
import { manager } from '../manager-name.js';
import { ObjectIndex, labelWords, selectorWords } from '../object-index.js';
import { isPodFinished } from '../pod-state.js';
import type { PodTemplate } from '../pod-template.js';
import { disruptionStatus } from './disruption-status.js';

/** Keeps the status of each PodDisruptionBudget up to date. */
export function startDisruptionController(host: ControllerHost): void {
  const writer = host.writer(manager);
  const podsByLabel = host.podsByLabel;
  const budgets = new ObjectIndex(host, PodDisruptionBudget, ({ spec }) =>
    selectorWords(spec?.selector),
  );
  const reconcile = async (key: ObjectKey): Promise<void> => {
    const budget = host.get(PodDisruptionBudget, key);
    if (budget === undefined) return;
    const pods = podsByLabel
      .find(key.namespace, selectorWords(budget.spec?.selector))
      .filter((pod) => !isPodFinished(pod) && selects(host, budget, pod.metadata.labels));
    const wantedReplicas = replicasWantedFor(host, pods);
    const status = disruptionStatus(budget, { pods, wantedReplicas, nowMs: host.now() });
    await writer.updateStatus(budget, status);
  };
  const queue = host.objectQueue(PodDisruptionBudget, 'disruption-budgets', reconcile);
  const addFor = (namespace: string | undefined, labels?: Record<string, string>): void => {
    for (const budget of budgets.find(namespace, labelWords(labels))) {
      if (selects(host, budget, labels)) queue.add(keyOf(budget));
    }
  };
  for (const type of scalable) {
    host.watch(type, ({ object }) => {
      addFor(object.metadata.namespace, object.spec?.template?.metadata?.labels);
    });
  }
  host.watch(Pod, ({ object, previous }) => {
    const { namespace, labels } = object.metadata;
    addFor(namespace, labels);
    if (previous !== undefined) addFor(namespace, previous.metadata.labels);
  });
}

interface Scalable extends KubernetesObject {
  spec?: { replicas?: number | undefined; template?: PodTemplate | undefined } | undefined;
}

const scalable: readonly ResourceType<Scalable>[] = [Deployment, StatefulSet, ReplicaSet];

function selects(
  host: ControllerHost,
  budget: PodDisruptionBudget,
  labels: Record<string, string> | undefined,
): boolean {
  return host.selects(budget.spec?.selector, labels);
}

/** Returns the replicas that the topmost controllers of the pods want; each controller counts once. */
function replicasWantedFor(host: ControllerHost, pods: readonly Pod[]): number {
  const wanted = new Map<string, number>();
  for (const pod of pods) {
    const scaler = topmost(host, pod);
    if (scaler !== undefined) wanted.set(scaler.metadata.uid ?? '', scaler.spec?.replicas ?? 1);
  }
  return [...wanted.values()].reduce((sum, replicas) => sum + replicas, 0);
}

function topmost(host: ControllerHost, object: KubernetesObject): Scalable | undefined {
  const reference = controllerOf(object);
  const type = scalable.find(({ kind }) => kind === reference?.kind);
  if (reference === undefined || type === undefined) return undefined;
  const owner = host.get(type, { namespace: object.metadata.namespace, name: reference.name });
  return owner && (topmost(host, owner) ?? owner);
}
