import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { isConditionTrue } from '../../object/index.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import { columnsOf, durationText } from './table-column.js';
import type { TableColumn } from './table-column.js';

type Pod = Wire<V1Pod>;
type ContainerStatus = Wire<V1ContainerStatus>;

const podOf = (object: UnstructuredObject): Pod => object;

/** The values of kubectl's columns READY, STATUS and RESTARTS. */
interface PodState {
  /** The number of ready containers, sidecars among them. */
  readonly ready: number;
  /** The number of containers that can be ready. */
  readonly total: number;
  /** The phase, or the reason why a container does not run or the pod is being deleted. */
  readonly reason: string;
  /** The containers whose restarts count. */
  readonly restarted: readonly ContainerStatus[];
}

function stateOf(pod: Pod): PodState {
  const { spec, status } = pod;
  const { initContainerStatuses: initial = [], containerStatuses = [] } = status ?? {};
  const sidecars = new Set<string>();
  for (const { name, restartPolicy } of spec?.initContainers ?? []) {
    if (restartPolicy === 'Always') sidecars.add(name);
  }
  const isSidecar = ({ name }: ContainerStatus): boolean => sidecars.has(name);
  const hasStarted = (one: ContainerStatus): boolean => isSidecar(one) && one.started === true;
  const awaited = initial.find((one) => !hasCompleted(one) && !hasStarted(one));
  // Init containers start one after the other: those after the awaited one have not started yet.
  const begun = awaited === undefined ? initial : initial.slice(0, initial.indexOf(awaited) + 1);
  const isInitializing =
    awaited !== undefined && !isConditionTrue(status?.conditions, 'Initialized');
  const shown = isInitializing ? [] : containerStatuses;
  const ready = [
    ...begun.filter((one) => !hasCompleted(one) && hasStarted(one) && one.ready),
    ...shown.filter(isRunning),
  ];
  const order = `${begun.length - 1}/${(spec?.initContainers ?? []).length}`;
  const reason = awaited === undefined ? podReason(status) : initReason(awaited, order);
  return {
    ready: ready.length,
    total: (spec?.containers.length ?? 0) + sidecars.size,
    reason: deletionReason(pod) ?? containersReason(shown, status) ?? reason,
    restarted: isInitializing ? begun : [...begun.filter(isSidecar), ...shown],
  };
}

function hasCompleted({ state }: ContainerStatus): boolean {
  return state?.terminated?.exitCode === 0;
}

function isRunning({ ready, state }: ContainerStatus): boolean {
  return ready && state?.running !== undefined && (state.waiting?.reason ?? '') === '';
}

/** Returns why the pod is in its phase. */
function podReason(status: Pod['status']): string {
  const { phase = '', reason = '', conditions = [] } = status ?? {};
  const gated = conditions.find(
    (one) => one.type === 'PodScheduled' && one.reason === 'SchedulingGated',
  );
  return gated?.reason ?? (reason === '' ? phase : reason);
}

/** Returns the state of a pod that is being deleted. */
function deletionReason({ metadata, status }: Pod): string | undefined {
  if (metadata?.deletionTimestamp === undefined) return undefined;
  if (status?.reason === 'NodeLost') return 'Unknown';
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return hasEnded ? undefined : 'Terminating';
}

function initReason({ state }: ContainerStatus, order: string): string {
  if (state?.terminated !== undefined) return `Init:${endReason(state.terminated)}`;
  const { reason = '' } = state?.waiting ?? {};
  return reason === '' || reason === 'PodInitializing' ? `Init:${order}` : `Init:${reason}`;
}

type End = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;

function endReason({ reason = '', signal = 0, exitCode }: End): string {
  if (reason !== '') return reason;
  return signal === 0 ? `ExitCode:${exitCode}` : `Signal:${signal}`;
}

/** Returns the reason of the first container that is not running. */
function containersReason(
  statuses: readonly ContainerStatus[],
  status: Pod['status'],
): string | undefined {
  let reason: string | undefined;
  let failure: string | undefined;
  for (const { state } of statuses.toReversed()) {
    const { waiting, terminated } = state ?? {};
    if ((waiting?.reason ?? '') !== '') reason = waiting?.reason;
    else if (terminated !== undefined) {
      reason = endReason(terminated);
      if (terminated.exitCode !== 0) failure = reason;
    }
  }
  if (reason !== 'Completed') return reason;
  const runs = statuses.some(isRunning);
  if (runs && isConditionTrue(status?.conditions, 'Ready')) return 'Running';
  return failure ?? (runs ? 'NotReady' : reason);
}

function restartsText({ restarted }: PodState, nowMs: number): string {
  const restarts = restarted.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const ends = restarted.flatMap(({ lastState }) => lastState?.terminated?.finishedAt ?? []);
  const last = ends.toSorted().at(-1);
  if (restarts === 0 || last === undefined) return String(restarts);
  return `${restarts} (${durationText(nowMs - Date.parse(last))} ago)`;
}

function gatesText({ spec, status }: Pod): string {
  const gates = spec?.readinessGates ?? [];
  const passed = gates.filter(({ conditionType }) =>
    isConditionTrue(status?.conditions, conditionType),
  );
  return gates.length === 0 ? '<none>' : `${passed.length}/${gates.length}`;
}

export const podColumns: readonly TableColumn[] = columnsOf([
  {
    name: 'Ready',
    doc: 'The aggregate readiness state of this pod for accepting traffic.',
    cell: (object) => {
      const { ready, total } = stateOf(podOf(object));
      return `${ready}/${total}`;
    },
  },
  {
    name: 'Status',
    doc: 'The aggregate status of the containers in this pod.',
    cell: (object) => stateOf(podOf(object)).reason,
  },
  {
    name: 'Restarts',
    doc: 'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
    cell: (object, nowMs) => restartsText(stateOf(podOf(object)), nowMs),
  },
  { name: 'IP', of: 'core.v1.PodStatus', path: 'status.podIP', absent: '<none>', wide: true },
  { name: 'Node', of: 'core.v1.PodSpec', path: 'spec.nodeName', absent: '<none>', wide: true },
  {
    name: 'Nominated Node',
    of: 'core.v1.PodStatus',
    path: 'status.nominatedNodeName',
    absent: '<none>',
    wide: true,
  },
  {
    name: 'Readiness Gates',
    doc: ['core.v1.PodSpec', 'readinessGates'],
    wide: true,
    cell: (object) => gatesText(podOf(object)),
  },
]);
