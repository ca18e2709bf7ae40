import type {
  V1Pod,
  V1PodSpec,
  V1RuntimeClass,
  V1Scheduling,
  V1StatefulSet,
  V1Toleration,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { deepEqual, formatTime } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { validateImages } from './containers.js';
import { specChanged, typedRules } from './kind-rules.js';
import type { KindRules, ServerView } from './kind-rules.js';
import { fillFromLimitRanges } from './limit-ranger.js';
import { allContainers, defaultPodOnly, defaultPodSpec, validatePodSpec } from './pod-spec.js';
import { qosClassOf } from './pod-resources.js';
import { mirrorAnnotation } from './pod-resizes.js';
import { podWarnings } from './pod-warnings.js';
import { podPartRules, validatePodStatus, validatePodUpdate } from './pod-updates.js';
import { admitPriority, podRefused } from './priority.js';

type Pod = Wire<V1Pod>;
type PodSpec = Wire<V1PodSpec>;

/**
 * Admits a pod as the real server does: fills in limits, priority, overhead, the scheduling of its RuntimeClass,
 * and tolerations of nodes that are not ready or unreachable.
 */
function admit(pod: Pod, server: ServerView): void {
  const { metadata, spec } = pod;
  if (spec === undefined) return;
  fillFromLimitRanges(pod, server);
  admitPriority({ metadata, spec }, server);
  tolerateLostNodes(spec);
  admitRuntimeClass({ metadata, spec }, server);
  const labels = topologyLabels(server, spec.nodeName ?? '');
  if (metadata !== undefined && Object.keys(labels).length > 0) {
    metadata.labels = { ...metadata.labels, ...labels };
  }
}

/** Returns the labels of a node that its pods get: its zone and its region. */
export function topologyLabels(
  server: ServerView,
  nodeName: string,
): Readonly<Record<string, string>> {
  const { labels = {} } = server.find('nodes', nodeName)?.metadata ?? {};
  const names = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];
  const isTopology = ([name]: readonly [string, string]): boolean => names.includes(name);
  return Object.fromEntries(Object.entries(labels).filter(isTopology));
}

interface Admitted {
  readonly metadata: Pod['metadata'];
  readonly spec: PodSpec;
}

function admitRuntimeClass({ metadata, spec }: Admitted, server: ServerView): void {
  const { runtimeClassName, overhead } = spec;
  const found =
    runtimeClassName === undefined
      ? undefined
      : server.find('node.k8s.io/runtimeclasses', runtimeClassName);
  if (runtimeClassName !== undefined && found === undefined) {
    throw podRefused(metadata, `pod rejected: RuntimeClass "${runtimeClassName}" not found`);
  }
  const { overhead: own, scheduling } = (found ?? {}) as Partial<Wire<V1RuntimeClass>>;
  if (own?.podFixed !== undefined) {
    if (Object.keys(overhead ?? {}).length > 0 && !deepEqual(overhead, own.podFixed)) {
      const why = "Pod's Overhead doesn't match RuntimeClass's defined Overhead";
      throw podRefused(metadata, `pod rejected: ${why}`);
    }
    spec.overhead = { ...own.podFixed };
  } else if (overhead !== undefined) {
    const why = 'Pod Overhead set without corresponding RuntimeClass defined Overhead';
    throw podRefused(metadata, `pod rejected: ${why}`);
  }
  if (scheduling !== undefined) scheduleBy(scheduling, { metadata, spec });
}

/** Adds the node selector and the tolerations of a RuntimeClass. */
function scheduleBy(
  { nodeSelector = {}, tolerations = [] }: Wire<V1Scheduling>,
  { metadata, spec }: Admitted,
): void {
  for (const [key, value] of Object.entries(nodeSelector)) {
    const own = spec.nodeSelector?.[key] ?? value;
    if (own === value) continue;
    const where = `runtimeClass.scheduling.nodeSelector[${key}] = ${value}`;
    throw podRefused(metadata, `conflict: ${where}; pod.spec.nodeSelector[${key}] = ${own}`);
  }
  const selector = { ...spec.nodeSelector, ...nodeSelector };
  if (Object.keys(selector).length > 0) spec.nodeSelector = selector;
  spec.tolerations = mergedTolerations([...(spec.tolerations ?? []), ...tolerations]);
}

/** Returns tolerations without those that another one covers. */
function mergedTolerations(all: readonly V1Toleration[]): V1Toleration[] {
  const merged: V1Toleration[] = [];
  for (const [index, one] of all.entries()) {
    const isCovered =
      merged.some((kept) => toleratesAll(kept, one)) ||
      // Equal tolerations cover each other: keep the first.
      all.slice(index + 1).some((later) => !deepEqual(later, one) && toleratesAll(later, one));
    if (!isCovered) merged.push(one);
  }
  return merged;
}

/** Returns whether the toleration `wide` tolerates every taint that `one` tolerates. */
function toleratesAll(wide: V1Toleration, one: V1Toleration): boolean {
  if (deepEqual(wide, one)) return true;
  const isAny = (wide.key ?? '') === '' && wide.operator === 'Exists';
  if (!isAny && (wide.key ?? '') !== (one.key ?? '')) return false;
  if ((wide.effect ?? '') !== '' && wide.effect !== one.effect) return false;
  const { tolerationSeconds = Infinity } = one;
  if (tolerationSeconds > (wide.tolerationSeconds ?? Infinity)) return false;
  if (wide.operator === 'Exists') return true;
  // As on the real server, a toleration without an operator, which means Equal, is never covered here.
  return one.operator === 'Equal' && (wide.value ?? '') === (one.value ?? '');
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

/** Checks what templates of pods may lack: images of volumes, and the service account of projected tokens. */
function validateComplete(spec: PodSpec, errors: FieldErrors): void {
  errors.each('spec.volumes', spec.volumes, ({ image }, errors) => {
    if (image === undefined || (image.reference ?? '') !== '') return;
    errors.required('image.reference');
  });
  if ((spec.serviceAccountName ?? '') !== '') return;
  for (const field of tokenFields(spec)) {
    errors.forbidden(field, 'must not be specified when serviceAccountName is not set');
  }
}

/**
 * Names the service account `default` in a new pod that projects a token and names none. On real servers
 * the ServiceAccount admission plugin does so before validation, with every pod. Here other pods stay as sent, as on
 * a server with `--disable-admission-plugins=ServiceAccount`.
 */
function defaultTokenAccount(spec: PodSpec): void {
  if ((spec.serviceAccountName ?? '') !== '' || tokenFields(spec).length === 0) return;
  spec.serviceAccountName = 'default';
  spec.serviceAccount = 'default';
}

/** @throws StatusError 403: the ServiceAccount of the pod does not exist. */
function requireAccount({ metadata, spec }: Admitted, server: ServerView): void {
  const { serviceAccountName: name = '' } = spec;
  const account = `${metadata?.namespace ?? ''}/${name}`;
  if (name === '' || server.find('serviceaccounts', account) !== undefined) return;
  const why = `error looking up service account ${account}: serviceaccount "${name}" not found`;
  throw podRefused(metadata, why);
}

/** Returns the paths of the projected tokens of a pod. */
function tokenFields({ volumes = [] }: PodSpec): string[] {
  return volumes.flatMap(({ projected }, index) =>
    (projected?.sources ?? []).flatMap(({ serviceAccountToken }, at) =>
      serviceAccountToken === undefined
        ? []
        : [`spec.volumes[${index}].projected.sources[${at}].serviceAccountToken`],
    ),
  );
}

/** Checks that a mirror of a static pod is on a node. */
function validateMirror({ metadata, spec }: Pod, errors: FieldErrors): void {
  const value = metadata?.annotations?.[mirrorAnnotation];
  if (value === undefined || (spec?.nodeName ?? '') !== '') return;
  const why = 'must set spec.nodeName if mirror pod annotation is set';
  errors.invalid(`metadata.annotations[${mirrorAnnotation}]`, value, why);
}

/** Checks that an update does not change the annotation of the mirror of a static pod. */
function validateMirrorUpdate({ metadata }: Pod, old: Pod, errors: FieldErrors): void {
  const value = metadata?.annotations?.[mirrorAnnotation];
  const before = old.metadata?.annotations?.[mirrorAnnotation];
  if (value === before) return;
  const why = before === undefined ? 'add' : 'remove or update';
  errors.forbidden(
    `metadata.annotations[${mirrorAnnotation}]`,
    `may not ${why} mirror pod annotation`,
  );
}

/** The rules of pods: admission, quality of service, graceful deletion. */
export const podRules: KindRules = typedRules<Pod>({
  defaults: ({ spec, status }) => {
    if (spec === undefined) return;
    defaultPodSpec(spec);
    defaultPodOnly(spec);
    const { podIP = '', podIPs } = status ?? {};
    // `podIP` takes precedence over `podIPs`.
    if (status && podIP !== '' && podIPs?.[0]?.ip !== podIP) status.podIPs = [{ ip: podIP }];
    if (status && podIP === '' && podIPs?.[0] !== undefined) status.podIP = podIPs[0].ip;
  },
  validate: (pod, errors) => {
    const { spec } = pod;
    validateMirror(pod, errors);
    if (spec === undefined) return;
    validatePodSpec(spec, errors.at('spec'));
    validateComplete(spec, errors);
    validateImages(spec, errors.at('spec'));
  },
  prepareForCreate: ({ metadata, spec }, server) => {
    dropDisabledPodFields(spec);
    if (spec === undefined) return;
    // Do this after mutating webhooks, because they may add volumes with projected tokens.
    defaultTokenAccount(spec);
    if (server.requireServiceAccounts) requireAccount({ metadata, spec }, server);
  },
  prepareForUpdate: ({ spec }, old) => {
    dropDisabledPodFields(spec);
    if (spec === undefined) return;
    tolerateLostNodes(spec);
    // Admission sets the priority and the preemption policy in creates only.
    const { priority, preemptionPolicy } = old.spec ?? {};
    if (priority !== undefined) spec.priority ??= priority;
    if (preemptionPolicy !== undefined) spec.preemptionPolicy ??= preemptionPolicy;
  },
  validateCreate: ({ spec }, errors) => {
    if ((spec?.ephemeralContainers ?? []).length > 0) {
      errors.forbidden('spec.ephemeralContainers', 'cannot be set on create');
    }
    if ((spec?.schedulingGates ?? []).length > 0 && (spec?.nodeName ?? '') !== '') {
      const why = 'cannot be set until all schedulingGates have been cleared';
      errors.forbidden('spec.nodeName', why);
    }
  },
  validateUpdate: (pod, old, errors) => {
    validateMirrorUpdate(pod, old, errors);
    validatePodUpdate(pod, old, errors);
  },
  // Components update pods often: the real server warns about new pods only.
  warnings: ({ spec }, old) =>
    spec === undefined || old !== undefined ? [] : podWarnings(spec, 'spec'),
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
  specChanged,
  partRules: podPartRules,
  answersDeleted: true,
  resets: { status: ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'] },
  keptInStatus: ['qosClass'],
  validateStatusUpdate: validatePodStatus,
  admitCreate: admit,
  initialStatus: ({ spec = { containers: [] } }, { clock }) => {
    const status = { phase: 'Pending', qosClass: qosClassOf(spec) };
    if ((spec.schedulingGates ?? []).length === 0) return status;
    return { ...status, conditions: [gated(formatTime(clock.now()))] };
  },
  gracePeriodSeconds: ({ spec, status }, requested) => {
    // An unscheduled pod runs nothing, and no kubelet would end the grace period.
    if ((spec?.nodeName ?? '') === '') return 0;
    if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return 0;
    const seconds = requested ?? spec?.terminationGracePeriodSeconds ?? 30;
    return seconds < 0 ? 1 : seconds;
  },
});

/** Returns the condition of a new pod with scheduling gates. */
function gated(lastTransitionTime: string): object {
  return {
    ...{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' },
    message: 'Scheduling is blocked due to non-empty scheduling gates',
    ...{ lastProbeTime: null, lastTransitionTime },
  };
}

/** Drops, in place, the fields of features that are off by default from a pod's spec. */
export function dropDisabledPodFields(spec: Wire<V1PodSpec> | undefined): void {
  if (spec === undefined) return;
  delete (spec as { schedulingGroup?: unknown }).schedulingGroup;
  for (const container of allContainers(spec)) {
    const { lifecycle } = container;
    if (lifecycle?.stopSignal === undefined) continue;
    delete lifecycle.stopSignal;
    if (Object.keys(lifecycle).length === 0) delete container.lifecycle;
  }
}

/** Drops, in place, the fields of features that are off by default from a StatefulSet. */
export function dropDisabledSetFields({ spec }: Wire<V1StatefulSet>): void {
  delete spec?.updateStrategy?.rollingUpdate?.maxUnavailable;
  dropDisabledPodFields(spec?.template.spec);
}

interface WithGeneration {
  readonly metadata?: { readonly generation?: number };
}

interface TemplateRules<T> {
  readonly prepareForCreate: (object: T) => void;
  readonly prepareForUpdate: (object: T) => void;
  readonly warnings: (object: T, old?: T) => readonly string[];
}

/**
 * Returns the rules of a kind for the template of its pods.
 * @param field - path of the spec of the template
 */
export function templateRules<T extends WithGeneration>(
  field: string,
  specOf: (object: T) => Wire<V1PodSpec> | undefined,
): TemplateRules<T> {
  const dropDisabled = (object: T): void => dropDisabledPodFields(specOf(object));
  return {
    prepareForCreate: dropDisabled,
    prepareForUpdate: dropDisabled,
    warnings: (object, old) => {
      const spec = specOf(object);
      const isKnown = old !== undefined && object.metadata?.generation === old.metadata?.generation;
      return spec === undefined || isKnown ? [] : podWarnings(spec, field);
    },
  };
}
