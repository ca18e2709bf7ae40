import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Wire } from '../../object/wire.js';
import { durationText } from './age.js';
import { ageColumn, fieldDoc } from './field-text.js';
import { nameColumn } from './default-columns.js';
import type { TableColumn } from './table-column.js';

type Pod = Wire<V1Pod>;
type ContainerStatus = Wire<V1ContainerStatus>;

const podOf = (object: UnstructuredObject): Pod => object;

/**
 * Returns the text of kubectl's STATUS column: the phase, or the reason of a container or of the
 * deletion.
 */
export function podStatusText({ metadata, spec, status }: Pod): string {
  const { phase = '', reason: given = '' } = status ?? {};
  let reason = given === '' ? phase : given;
  const initializing = initReason(status?.initContainerStatuses ?? [], spec?.initContainers ?? []);
  if (initializing !== undefined) reason = initializing;
  else {
    const statuses = status?.containerStatuses ?? [];
    const running = statuses.some(({ ready, state }) => ready && state?.running !== undefined);
    reason = containersReason(statuses) ?? reason;
    if (reason === 'Completed' && running) reason = isReady(status) ? 'Running' : 'NotReady';
  }
  if (metadata?.deletionTimestamp === undefined) return reason;
  return given === 'NodeLost' ? 'Unknown' : 'Terminating';
}

function isReady(status: Pod['status']): boolean {
  const conditions = status?.conditions ?? [];
  return conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True');
}

function initReason(
  statuses: readonly ContainerStatus[],
  containers: readonly unknown[],
): string | undefined {
  for (const [index, { state, started }] of statuses.entries()) {
    if (state?.terminated?.exitCode === 0 || started === true) continue;
    if (state?.terminated !== undefined) {
      const { reason = '', signal = 0, exitCode } = state.terminated;
      if (reason !== '') return `Init:${reason}`;
      return signal === 0 ? `Init:ExitCode:${exitCode}` : `Init:Signal:${signal}`;
    }
    const { reason = '' } = state?.waiting ?? {};
    if (reason !== '' && reason !== 'PodInitializing') return `Init:${reason}`;
    return `Init:${index}/${containers.length}`;
  }
  return undefined;
}

function containersReason(statuses: readonly ContainerStatus[]): string | undefined {
  let reason: string | undefined;
  for (const { state } of statuses.toReversed()) {
    const { waiting, terminated } = state ?? {};
    if ((waiting?.reason ?? '') !== '') reason = waiting?.reason;
    else if (terminated !== undefined) {
      const { signal = 0, exitCode } = terminated;
      const code = signal === 0 ? `ExitCode:${exitCode}` : `Signal:${signal}`;
      reason = (terminated.reason ?? '') === '' ? code : terminated.reason;
    }
  }
  return reason;
}

function restartsText({ status }: Pod, nowMs: number): string {
  const statuses = status?.containerStatuses ?? [];
  const restarts = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const ends = statuses.flatMap(({ lastState }) => lastState?.terminated?.finishedAt ?? []);
  const last = ends.toSorted().at(-1);
  if (restarts === 0 || last === undefined) return String(restarts);
  return `${restarts} (${durationText(nowMs - Date.parse(last))} ago)`;
}

const orNone = (text: string | undefined): string =>
  text === undefined || text === '' ? '<none>' : text;

/** The columns of pods. */
export const podColumns: readonly TableColumn[] = [
  nameColumn,
  {
    name: 'Ready',
    type: 'string',
    description: 'The aggregate readiness state of this pod for accepting traffic.',
    cell: (object) => {
      const { spec, status } = podOf(object);
      const ready = (status?.containerStatuses ?? []).filter((one) => one.ready).length;
      return `${ready}/${spec?.containers.length ?? 0}`;
    },
  },
  {
    name: 'Status',
    type: 'string',
    description: 'The aggregate status of the containers in this pod.',
    cell: (object) => podStatusText(podOf(object)),
  },
  {
    name: 'Restarts',
    type: 'string',
    description:
      'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
    cell: (object, nowMs) => restartsText(podOf(object), nowMs),
  },
  ageColumn,
  {
    name: 'IP',
    type: 'string',
    get description() {
      return fieldDoc('core.v1.PodStatus', 'podIP');
    },
    priority: 1,
    cell: (object) => orNone(podOf(object).status?.podIP),
  },
  {
    name: 'Node',
    type: 'string',
    get description() {
      return fieldDoc('core.v1.PodSpec', 'nodeName');
    },
    priority: 1,
    cell: (object) => orNone(podOf(object).spec?.nodeName),
  },
  {
    name: 'Nominated Node',
    type: 'string',
    get description() {
      return fieldDoc('core.v1.PodStatus', 'nominatedNodeName');
    },
    priority: 1,
    cell: (object) => orNone(podOf(object).status?.nominatedNodeName),
  },
  {
    name: 'Readiness Gates',
    type: 'string',
    get description() {
      return fieldDoc('core.v1.PodSpec', 'readinessGates');
    },
    priority: 1,
    cell: (object) => {
      const { spec, status } = podOf(object);
      const gates = spec?.readinessGates ?? [];
      if (gates.length === 0) return '<none>';
      const conditions = status?.conditions ?? [];
      const passed = gates.filter(({ conditionType }) =>
        conditions.some(({ type, status: value }) => type === conditionType && value === 'True'),
      );
      return `${passed.length}/${gates.length}`;
    },
  },
];
