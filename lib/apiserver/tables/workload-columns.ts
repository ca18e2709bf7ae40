import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import type { UnstructuredObject, LabelSelector, Wire } from '../../object/index.js';
import { formatLabelSelector } from '../../object/index.js';
import {
  ageColumn,
  ageText,
  columnsOf,
  durationText,
  fieldDoc,
  listAt,
  nameColumn,
  numberAt,
  textAt,
  valueAt,
} from './table-column.js';
import type { ColumnSpec, TableColumn } from './table-column.js';

function containerSpecs(template: string): readonly ColumnSpec[] {
  const joined = (object: UnstructuredObject, member: string): string =>
    listAt(object, `${template}.spec.containers`)
      .map((container) => textAt(container, member))
      .join(',');
  return [
    {
      name: 'Containers',
      doc: 'Names of each container in the template.',
      wide: true,
      cell: (object) => joined(object, 'name'),
    },
    {
      name: 'Images',
      doc: 'Images referenced by each container in the template.',
      wide: true,
      cell: (object) => joined(object, 'image'),
    },
  ];
}

/** Returns a selector as text; `<none>` if it has no condition. */
export function selectorText(object: unknown, path: string): string {
  const selector = valueAt(object, path) as LabelSelector | undefined | null;
  const text = selector === undefined || selector === null ? '' : formatLabelSelector(selector);
  return text === '' ? '<none>' : text;
}

function selectorSpec(type: string, path = 'spec.selector'): ColumnSpec {
  return {
    name: 'Selector',
    doc: [type, 'selector'],
    wide: true,
    cell: (object) => selectorText(object, path),
  };
}

const count = (name: string, type: string, path: string): ColumnSpec => {
  const [part = '', field = ''] = path.split('.');
  const owner = `${type}${part === 'spec' ? 'Spec' : 'Status'}`;
  return { name, type: 'integer', doc: [owner, field], cell: (object) => numberAt(object, path) };
};

const countText = (name: string, type: string, path: string): ColumnSpec => ({
  ...count(name, type, path),
  type: 'string',
  cell: (object) => numberAt(object, path),
});

const ready: ColumnSpec = {
  name: 'Ready',
  doc: 'Number of the pod with ready state',
  cell: (object) =>
    `${numberAt(object, 'status.readyReplicas')}/${numberAt(object, 'spec.replicas')}`,
};

function jobStatus(object: UnstructuredObject): string {
  const has = (type: string): boolean =>
    listAt(object, 'status.conditions').some(
      (condition) => textAt(condition, 'type') === type && textAt(condition, 'status') === 'True',
    );
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (object.metadata.deletionTimestamp !== undefined) return 'Terminating';
  const other = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(has);
  return other ?? 'Running';
}

function jobCompletions(object: UnstructuredObject): string {
  const succeeded = numberAt(object, 'status.succeeded');
  const completions = valueAt(object, 'spec.completions');
  if (typeof completions === 'number') return `${succeeded}/${completions}`;
  const parallelism = numberAt(object, 'spec.parallelism');
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(object: UnstructuredObject, nowMs: number): string {
  const start = textAt(object, 'status.startTime');
  if (start === '') return '';
  const end = textAt(object, 'status.completionTime');
  return durationText((end === '' ? nowMs : Date.parse(end)) - Date.parse(start));
}

const jobTemplate = 'spec.jobTemplate.spec';

/** The columns of workloads, by group and kind. */
export const workloadColumns: Readonly<Record<string, readonly TableColumn[]>> = {
  'apps/Deployment': columnsOf([
    ready,
    countText('Up-to-date', 'apps.v1.Deployment', 'status.updatedReplicas'),
    countText('Available', 'apps.v1.Deployment', 'status.availableReplicas'),
    ...containerSpecs('spec.template'),
    selectorSpec('apps.v1.DeploymentSpec'),
  ]),
  'apps/StatefulSet': columnsOf([ready, ...containerSpecs('spec.template')]),
  'apps/ReplicaSet': columnsOf([
    count('Desired', 'apps.v1.ReplicaSet', 'spec.replicas'),
    count('Current', 'apps.v1.ReplicaSet', 'status.replicas'),
    count('Ready', 'apps.v1.ReplicaSet', 'status.readyReplicas'),
    ...containerSpecs('spec.template'),
    selectorSpec('apps.v1.ReplicaSetSpec'),
  ]),
  'apps/DaemonSet': columnsOf([
    count('Desired', 'apps.v1.DaemonSet', 'status.desiredNumberScheduled'),
    count('Current', 'apps.v1.DaemonSet', 'status.currentNumberScheduled'),
    count('Ready', 'apps.v1.DaemonSet', 'status.numberReady'),
    count('Up-to-date', 'apps.v1.DaemonSet', 'status.updatedNumberScheduled'),
    count('Available', 'apps.v1.DaemonSet', 'status.numberAvailable'),
    {
      name: 'Node Selector',
      doc: ['core.v1.PodSpec', 'nodeSelector'],
      cell: (object) => {
        const matchLabels = valueAt(object, 'spec.template.spec.nodeSelector');
        const labels = matchLabels as Record<string, string> | undefined;
        return labels === undefined ? '<none>' : selectorText({ s: { matchLabels: labels } }, 's');
      },
    },
    ...containerSpecs('spec.template'),
    selectorSpec('apps.v1.DaemonSetSpec'),
  ]),
  'batch/Job': columnsOf([
    { name: 'Status', doc: 'Status of the job.', cell: jobStatus },
    { name: 'Completions', doc: ['batch.v1.JobStatus', 'succeeded'], cell: jobCompletions },
    { name: 'Duration', doc: 'Time required to complete the job.', cell: jobDuration },
    ...containerSpecs('spec.template'),
    selectorSpec('batch.v1.JobSpec'),
  ]),
  'batch/CronJob': columnsOf([
    {
      name: 'Schedule',
      doc: ['batch.v1.CronJobSpec', 'schedule'],
      cell: (object) => textAt(object, 'spec.schedule'),
    },
    {
      name: 'Timezone',
      doc: ['batch.v1.CronJobSpec', 'timeZone'],
      cell: (object) => textAt(object, 'spec.timeZone', '<none>'),
    },
    {
      name: 'Suspend',
      type: 'boolean',
      doc: ['batch.v1.CronJobSpec', 'suspend'],
      cell: (object) => (valueAt(object, 'spec.suspend') === true ? 'True' : 'False'),
    },
    {
      name: 'Active',
      type: 'integer',
      doc: ['batch.v1.CronJobStatus', 'active'],
      cell: (object) => listAt(object, 'status.active').length,
    },
    {
      name: 'Last Schedule',
      doc: ['batch.v1.CronJobStatus', 'lastScheduleTime'],
      cell: (object, nowMs) => {
        const time = textAt(object, 'status.lastScheduleTime');
        return time === '' ? '<none>' : ageText(time, nowMs);
      },
    },
    ...containerSpecs(`${jobTemplate}.template`),
    selectorSpec('batch.v1.JobSpec', `${jobTemplate}.selector`),
  ]),
};

type Pod = Wire<V1Pod>;
type ContainerStatus = Wire<V1ContainerStatus>;

const podOf = (object: UnstructuredObject): Pod => object;

/**
 * Returns the text of kubectl's STATUS column: the phase, or the reason of a container or of the
 * deletion.
 */
function podStatusText({ metadata, spec, status }: Pod): string {
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
  const hasEnded = phase === 'Succeeded' || phase === 'Failed';
  if (metadata?.deletionTimestamp === undefined || hasEnded) return reason;
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
