import type { UnstructuredObject, LabelSelector } from '../../object/index.js';
import { canonicalQuantity, formatLabelSelector } from '../../object/index.js';
import {
  ageColumn,
  ageText,
  column,
  columnsOf,
  durationText,
  listAt,
  nameColumn,
  numberAt,
  textAt,
  valueAt,
} from './table-column.js';
import type { ColumnSpec, TableColumn } from './table-column.js';

/** Returns the columns with the containers of a pod template. */
export function containerSpecs(template: string): readonly ColumnSpec[] {
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

/** Returns labels as text; `<none>` if it has no label. */
export function labelsText(object: unknown, path: string): string {
  const matchLabels = valueAt(object, path) as Record<string, string> | undefined;
  return formatLabelSelector({ matchLabels: matchLabels ?? {} }) || '<none>';
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

const autoscaler = 'autoscaling.v2.HorizontalPodAutoscaler';

/** Maximum number of metrics in the column; of further ones only the number is shown. */
const shownMetrics = 2;

function autoscalerTargets(object: UnstructuredObject): string {
  const current = listAt(object, 'status.currentMetrics');
  const texts = listAt(object, 'spec.metrics').map((metric, index) => {
    const type = textAt(metric, 'type');
    const member = type.charAt(0).toLowerCase() + type.slice(1);
    return metricText(type, valueAt(metric, member), valueAt(current[index], member));
  });
  if (texts.length === 0) return '<none>';
  const more = texts.length - shownMetrics;
  return texts.slice(0, shownMetrics).join(', ') + (more > 0 ? ` + ${more} more...` : '');
}

/**
 * Returns the current value and the target of a metric. For a resource, returns its name too, and a percentage or an
 * average.
 */
function metricText(type: string, wanted: unknown, current: unknown): string {
  const isResource = type.endsWith('Resource');
  const isAverage = valueAt(wanted, 'target.averageValue') !== undefined;
  const member = isAverage ? 'averageValue' : isResource ? 'averageUtilization' : 'value';
  const of = (owner: unknown, path: string, absent: string): string => {
    const value = valueAt(owner, `${path}.${member}`);
    if (typeof value === 'number' && isResource && !isAverage) return `${value}%`;
    return typeof value === 'string' ? canonicalQuantity(value) : absent;
  };
  const text = `${of(current, 'current', '<unknown>')}/${of(wanted, 'target', '<auto>')}`;
  if (isResource) return `${textAt(wanted, 'name')}: ${text}`;
  // The metric of pods is always an average.
  return isAverage && type !== 'Pods' ? `${text} (avg)` : text;
}

/** The columns of workloads and their autoscalers, by group and kind. */
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
      cell: (object) => labelsText(object, 'spec.template.spec.nodeSelector'),
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
    { name: 'Schedule', of: 'batch.v1.CronJobSpec', path: 'spec.schedule' },
    { name: 'Timezone', of: 'batch.v1.CronJobSpec', path: 'spec.timeZone', absent: '<none>' },
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
  'autoscaling/Scale': [
    { ...nameColumn, format: '' },
    column({
      name: 'Desired',
      of: 'autoscaling.v1.ScaleSpec',
      path: 'spec.replicas',
      type: 'integer',
    }),
    column({
      name: 'Available',
      of: 'autoscaling.v1.ScaleStatus',
      path: 'status.replicas',
      type: 'integer',
    }),
    ageColumn,
  ],
  'autoscaling/HorizontalPodAutoscaler': columnsOf([
    {
      name: 'Reference',
      doc: [`${autoscaler}Spec`, 'scaleTargetRef'],
      cell: (object) =>
        `${textAt(object, 'spec.scaleTargetRef.kind')}/${textAt(object, 'spec.scaleTargetRef.name')}`,
    },
    { name: 'Targets', doc: [`${autoscaler}Spec`, 'metrics'], cell: autoscalerTargets },
    { name: 'MinPods', of: `${autoscaler}Spec`, path: 'spec.minReplicas', absent: '<unset>' },
    {
      name: 'MaxPods',
      doc: [`${autoscaler}Spec`, 'maxReplicas'],
      cell: (object) => numberAt(object, 'spec.maxReplicas'),
    },
    {
      name: 'Replicas',
      doc: [`${autoscaler}Status`, 'currentReplicas'],
      cell: (object) => numberAt(object, 'status.currentReplicas'),
    },
  ]),
};
