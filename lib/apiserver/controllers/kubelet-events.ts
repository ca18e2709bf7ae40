import type { Pod } from '../../object/index.js';
import type { ControllerEvent } from './controller-events.js';
import type { PodStage } from './pod-behavior.js';

/** A change of a pod's stage, or a restart of its containers. */
export interface PodStep {
  readonly from: PodStage;
  readonly to: PodStage;
  /** True if the containers of a running pod start again. */
  readonly isRestart: boolean;
}

const running: readonly PodStage[] = ['running', 'ready', 'crashed'];

/** Returns the events that a kubelet records for a change of `pod`. */
export function podStepEvents(pod: Pod, { from, to, isRestart }: PodStep): ControllerEvent[] {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const hasStarted = running.includes(from);
  switch (to) {
    case 'waiting':
      return [];
    case 'errImagePull':
      return containers.flatMap(({ name, image = '' }) => [
        containerEvent(pod, name, 'Pulling', `Pulling image "${image}"`),
        warning(
          containerEvent(pod, name, 'Failed', `Failed to pull image "${image}": image not found`),
        ),
        warning(containerEvent(pod, name, 'Failed', 'Error: ErrImagePull')),
      ]);
    case 'imagePullBackOff':
      return containers.flatMap(({ name, image = '' }) => [
        containerEvent(pod, name, 'BackOff', `Back-off pulling image "${image}"`),
        warning(containerEvent(pod, name, 'Failed', 'Error: ImagePullBackOff')),
      ]);
    case 'running':
    case 'ready':
    case 'succeeded':
    case 'failed':
      if (hasStarted) return [];
      return [
        ...initContainers.flatMap((container) => startEvents(pod, container, 'initContainers')),
        ...containers.flatMap((container) => startEvents(pod, container)),
      ];
    case 'crashed':
      return containers.flatMap((container) => [
        ...(isRestart || !hasStarted ? startEvents(pod, container) : []),
        backOffEvent(pod, container.name),
      ]);
  }
}

export function podEndEvents(pod: Pod): ControllerEvent[] {
  const statuses = pod.status?.containerStatuses ?? [];
  return statuses
    .filter(({ state }) => state?.running !== undefined)
    .map(({ name }) => containerEvent(pod, name, 'Killing', `Stopping container ${name}`));
}

type Container = NonNullable<Pod['spec']>['containers'][number];

function startEvents(
  pod: Pod,
  { name, image = '' }: Container,
  list: 'containers' | 'initContainers' = 'containers',
): ControllerEvent[] {
  const present = `Container image "${image}" already present on machine and can be accessed by the pod`;
  const steps = { Pulled: present, Created: 'Container created', Started: 'Container started' };
  return Object.entries(steps).map(([reason, message]) =>
    containerEvent(pod, name, reason, message, list),
  );
}

function backOffEvent(pod: Pod, container: string): ControllerEvent {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  const where = `container ${container} in pod ${name}_${namespace}(${uid})`;
  return warning(containerEvent(pod, container, 'BackOff', `Back-off restarting failed ${where}`));
}

function containerEvent(
  pod: Pod,
  ...[name, reason, message, list = 'containers']: readonly [
    name: string,
    reason: string,
    message: string,
    list?: 'containers' | 'initContainers',
  ]
): ControllerEvent {
  return { about: pod, fieldPath: `spec.${list}{${name}}`, reason, message };
}

function warning(event: ControllerEvent): ControllerEvent {
  return { ...event, type: 'Warning' };
}
