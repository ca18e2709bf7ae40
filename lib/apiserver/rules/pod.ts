import type { V1Container, V1Pod, V1PodSpec } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { allContainers, defaultPodOnly, defaultPodSpec } from '../defaulting/pod-spec.js';
import { forbidden } from '../status-error.js';
import { validateImages } from '../validation/containers.js';
import type { FieldErrors } from '../validation/field-errors.js';
import { validatePodSpec } from '../validation/pod-spec.js';
import { deepEqual } from '../../object/deep-equal.js';
import { dropDisabledPodFields } from './disabled-fields.js';
import type { KindRules } from './kind-rules.js';
import type { ServerView } from './server-view.js';
import { podWarnings } from './pod-warnings.js';
import { specChanged } from './spec-changed.js';
import { typedRules } from './typed-rules.js';
import { withoutMembers } from '../../object/json.js';

type Pod = Wire<V1Pod>;
type PodSpec = Wire<V1PodSpec>;

/** Admits a pod as the real server does: adds its priority, its overhead and tolerations of lost nodes. */
function admit({ metadata, spec }: Pod, server: ServerView): void {
  if (spec === undefined) return;
  admitPriority({ metadata, spec }, server);
  admitRuntimeClass({ metadata, spec }, server);
  tolerateLostNodes(spec);
}

interface Admitted {
  readonly metadata: Pod['metadata'];
  readonly spec: PodSpec;
}

/** Sets priority and preemption policy from the class. A pod with other values is refused. */
function admitPriority({ metadata, spec }: Admitted, server: ServerView): void {
  const { priorityClassName = '' } = spec;
  const found =
    priorityClassName === ''
      ? defaultPriority(server)
      : server.find('scheduling.k8s.io/priorityclasses', priorityClassName);
  if (found === undefined && priorityClassName !== '' && !isSystemClass(priorityClassName)) {
    throw refused(metadata, `no PriorityClass with name ${priorityClassName} was found`);
  }
  const { value, preemptionPolicy } = (found ?? {}) as {
    value?: number;
    preemptionPolicy?: string;
  };
  if (priorityClassName === '' && found !== undefined) {
    spec.priorityClassName = found.metadata.name ?? '';
  }
  const priority = value ?? systemPriorities[priorityClassName] ?? 0;
  const policy = preemptionPolicy ?? 'PreemptLowerPriority';
  const computed = (what: string): string =>
    `must not be provided in pod spec; priority admission controller computed ${what} from the given PriorityClass name`;
  if (spec.priority !== undefined && spec.priority !== priority) {
    const why = `the integer value of priority (${spec.priority}) ${computed(String(priority))}`;
    throw refused(metadata, why);
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    const given = `the string value of PreemptionPolicy (${spec.preemptionPolicy})`;
    throw refused(metadata, `${given} ${computed(policy)}`);
  }
  spec.priority = priority;
  spec.preemptionPolicy = policy;
}

function refused(metadata: Pod['metadata'], why: string): Error {
  return forbidden({ group: '', plural: 'pods', name: metadata?.name }, why);
}

function admitRuntimeClass({ metadata, spec }: Admitted, server: ServerView): void {
  const { runtimeClassName, overhead } = spec;
  const found =
    runtimeClassName === undefined
      ? undefined
      : server.find('node.k8s.io/runtimeclasses', runtimeClassName);
  if (runtimeClassName !== undefined && found === undefined) {
    throw refused(metadata, `pod rejected: RuntimeClass "${runtimeClassName}" not found`);
  }
  const own = found?.['overhead'] as { podFixed?: Record<string, string> } | undefined;
  if (own?.podFixed !== undefined) spec.overhead ??= { ...own.podFixed };
  else if (overhead !== undefined) {
    const why = 'Pod Overhead set without corresponding RuntimeClass defined Overhead';
    throw refused(metadata, `pod rejected: ${why}`);
  }
}

const systemPriorities: Readonly<Partial<Record<string, number>>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

function isSystemClass(name: string): boolean {
  return systemPriorities[name] !== undefined;
}

function defaultPriority(server: ServerView): ReturnType<ServerView['find']> {
  for (const priorityClass of server.all('scheduling.k8s.io/priorityclasses')) {
    if (priorityClass['globalDefault'] === true) return priorityClass;
  }
  return undefined;
}

function tolerateLostNodes(spec: PodSpec): void {
  const tolerations = spec.tolerations ?? [];
  for (const state of ['not-ready', 'unreachable']) {
    const key = `node.kubernetes.io/${state}`;
    const tolerated = tolerations.some(
      (toleration) =>
        (toleration.key === key || (toleration.key ?? '') === '') &&
        (toleration.effect === 'NoExecute' || (toleration.effect ?? '') === ''),
    );
    if (tolerated) continue;
    const toleration = { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
    tolerations.push(toleration);
  }
  spec.tolerations = tolerations;
}

/** Returns the quality of service class from the requests and limits of a pod's containers. */
export function qosClassOf(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const all = allContainers(spec).filter(({ restartPolicy }) => restartPolicy !== 'Never');
  const counted = ['cpu', 'memory'];
  const amounts = all.flatMap(({ resources }) =>
    [resources?.requests, resources?.limits].flatMap((list) =>
      Object.entries(list ?? {}).filter(
        ([name, amount]) => counted.includes(name) && amount !== '0',
      ),
    ),
  );
  if (amounts.length === 0) return 'BestEffort';
  const isGuaranteed = ({ resources }: Wire<V1Container>): boolean =>
    counted.every((name) => {
      const limit = resources?.limits?.[name];
      return limit !== undefined && (resources?.requests?.[name] ?? limit) === limit;
    });
  return all.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

const updatable =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function validateUpdate({ spec }: Pod, { spec: old }: Pod, errors: FieldErrors): void {
  if (spec === undefined || old === undefined) return;
  if (spec.containers.length !== old.containers.length) {
    errors.forbidden('spec.containers', 'pod updates may not add or remove containers');
    return;
  }
  const kept = (old.tolerations ?? []).every((toleration) =>
    (spec.tolerations ?? []).some((one) => deepEqual(one, toleration)),
  );
  if (!kept) {
    const why = 'existing toleration can not be modified except its tolerationSeconds';
    errors.forbidden('spec.tolerations', why);
  }
  if (!deepEqual(withoutUpdatable(spec), withoutUpdatable(old)))
    errors.forbidden('spec', updatable);
}

function withoutUpdatable(spec: PodSpec): unknown {
  const rest = withoutMembers(spec, 'activeDeadlineSeconds', 'tolerations', 'schedulingGates');
  const withoutImage = (container: Wire<V1Container>): unknown =>
    withoutMembers(container, 'image');
  return {
    ...rest,
    containers: spec.containers.map(withoutImage),
    initContainers: (spec.initContainers ?? []).map(withoutImage),
  };
}

/** The rules of pods: admission, quality of service, graceful deletion. */
export const podRules: KindRules = typedRules<Pod>(
  {
    defaults: ({ spec, status }) => {
      if (spec === undefined) return;
      defaultPodSpec(spec);
      defaultPodOnly(spec);
      if (status?.podIP !== undefined) status.podIPs ??= [{ ip: status.podIP }];
    },
    validate: ({ spec }, errors) => {
      if (spec === undefined) return;
      validatePodSpec(spec, 'spec', errors);
      validateImages(spec, 'spec', errors);
    },
    prepareForCreate: ({ spec }) => dropDisabledPodFields(spec),
    prepareForUpdate: ({ spec }) => dropDisabledPodFields(spec),
    validateCreate: ({ spec }, errors) => {
      if ((spec?.ephemeralContainers ?? []).length > 0) {
        errors.forbidden('spec.ephemeralContainers', 'cannot be set on create');
      }
      if ((spec?.schedulingGates ?? []).length > 0 && (spec?.nodeName ?? '') !== '') {
        const why = 'cannot be set until all schedulingGates have been cleared';
        errors.forbidden('spec.nodeName', why);
      }
    },
    validateUpdate,
    warnings: ({ spec }) => (spec === undefined ? [] : podWarnings(spec, 'spec')),
    selectableFields: ({ spec, status }) => ({
      'spec.nodeName': spec?.nodeName ?? '',
      'spec.restartPolicy': spec?.restartPolicy ?? '',
      'spec.schedulerName': spec?.schedulerName ?? '',
      'spec.serviceAccountName': spec?.serviceAccountName ?? '',
      'spec.hostNetwork': String(spec?.hostNetwork ?? false),
      'status.phase': status?.phase ?? '',
      'status.podIP': status?.podIP ?? '',
      'status.nominatedNodeName': status?.nominatedNodeName ?? '',
    }),
  },
  {
    specChanged,
    answersDeleted: true,
    statusResets: ['metadata.deletionTimestamp', 'metadata.ownerReferences'],
    admitCreate: (object, server) => admit(object, server),
    initialStatus: (object) => {
      const { spec } = object as unknown as Pod;
      return { phase: 'Pending', qosClass: qosClassOf(spec ?? { containers: [] }) };
    },
    gracePeriodSeconds: (object, requested) => {
      const { spec, status } = object as unknown as Pod;
      // An unscheduled pod runs nothing, and no kubelet would end the grace period.
      if ((spec?.nodeName ?? '') === '') return 0;
      if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return 0;
      const seconds = requested ?? spec?.terminationGracePeriodSeconds ?? 30;
      return seconds < 0 ? 1 : seconds;
    },
  },
);
