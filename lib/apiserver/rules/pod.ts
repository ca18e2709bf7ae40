import type {
  V1Container,
  V1ContainerPort,
  V1Pod,
  V1PodSpec,
  V1StatefulSet,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { canonicalQuantity, formatTime, quoted } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { validateImages } from './containers.js';
import { specChanged, typedRules } from './kind-rules.js';
import type { KindRules, ServerView } from './kind-rules.js';
import { fillFromLimitRanges } from './limit-ranger.js';
import { allContainers, defaultPodOnly, defaultPodSpec, validatePodSpec } from './pod-spec.js';
import { qosClassOf } from './pod-resources.js';
import { mirrorAnnotation } from './pod-resizes.js';
import { podPartRules, validatePodStatus, validatePodUpdate } from './pod-updates.js';
import { admitPriority, podRefused } from './priority.js';

type Pod = Wire<V1Pod>;
type PodSpec = Wire<V1PodSpec>;

/**
 * Admits a pod as the real server does: fills in limits, priority, overhead, and tolerations of nodes that
 * are not ready or unreachable.
 */
function admit(pod: Pod, server: ServerView): void {
  const { metadata, spec } = pod;
  if (spec === undefined) return;
  fillFromLimitRanges(pod, server);
  admitPriority({ metadata, spec }, server);
  admitRuntimeClass({ metadata, spec }, server);
  tolerateLostNodes(spec);
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
  const own = found?.['overhead'] as { podFixed?: Record<string, string> } | undefined;
  if (own?.podFixed !== undefined) spec.overhead ??= { ...own.podFixed };
  else if (overhead !== undefined) {
    const why = 'Pod Overhead set without corresponding RuntimeClass defined Overhead';
    throw podRefused(metadata, `pod rejected: ${why}`);
  }
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

/** Checks that projected tokens have a service account. Templates of pods may lack it. */
function validateTokens(spec: PodSpec, errors: FieldErrors): void {
  if ((spec.serviceAccountName ?? '') !== '') return;
  for (const field of tokenFields(spec)) {
    errors.forbidden(field, 'must not be specified when serviceAccountName is not set');
  }
}

/**
 * Names the service account `default` in a new pod that projects a token and names none. On real servers
 * the ServiceAccount admission plugin does so before validation, with every pod. This server has no such
 * plugin: other pods stay as sent, as on a server with `--disable-admission-plugins=ServiceAccount`.
 */
function defaultTokenAccount(spec: PodSpec): void {
  if ((spec.serviceAccountName ?? '') !== '' || tokenFields(spec).length === 0) return;
  spec.serviceAccountName = 'default';
  spec.serviceAccount = 'default';
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

/** Checks that an update neither makes a pod the mirror of a static pod nor ends that. */
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
export const podRules: KindRules = typedRules<Pod>(
  {
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
      validatePodSpec(spec, 'spec', errors);
      validateTokens(spec, errors);
      validateImages(spec, 'spec', errors);
    },
    prepareForCreate: ({ spec }) => {
      dropDisabledPodFields(spec);
      // After mutating webhooks, which add such volumes.
      if (spec !== undefined) defaultTokenAccount(spec);
    },
    prepareForUpdate: ({ spec }, old) => {
      dropDisabledPodFields(spec);
      if (spec === undefined) return;
      tolerateLostNodes(spec);
      // Admission sets them in creates only.
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
    // Components update pods often: the real server warns about new ones only.
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
  },
  {
    specChanged,
    partRules: podPartRules,
    answersDeleted: true,
    resets: { status: ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'] },
    keptInStatus: ['qosClass'],
    validateStatusUpdate: (object, old, errors) => validatePodStatus(object, old, errors),
    admitCreate: (object, server) => admit(object, server),
    initialStatus: (object, { clock }) => {
      const { spec = { containers: [] } } = object as unknown as Pod;
      const status = { phase: 'Pending', qosClass: qosClassOf(spec) };
      if ((spec.schedulingGates ?? []).length === 0) return status;
      return { ...status, conditions: [gated(formatTime(clock.now()))] };
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

/** Returns the condition of a new pod with scheduling gates. */
function gated(lastTransitionTime: string): object {
  return {
    ...{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' },
    message: 'Scheduling is blocked due to non-empty scheduling gates',
    ...{ lastProbeTime: null, lastTransitionTime },
  };
}

type Container = Wire<V1Container>;

/** Volumes that kubelets no longer mount, and the API's warning for each. */
const deprecatedVolumes: Readonly<Record<string, string>> = {
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
};

/**
 * Returns warnings for valid but probably unintended settings of a pod or pod template.
 * @param field - path of the spec
 */
export function podWarnings(spec: PodSpec, field: string): readonly string[] {
  const containers = containersOf(spec, field);
  return [
    ...spreadWarnings(spec, field),
    ...volumeWarnings(spec, field),
    ...repeatedNames(spec, field),
    ...containers.flatMap(({ container, path }) => [
      ...amountWarnings(container, path),
      ...envWarnings(container, path),
    ]),
    ...portWarnings(containers),
    ...graceWarnings(spec, field),
  ];
}

interface ContainerAt {
  readonly container: Container;
  readonly path: string;
}

function containersOf(spec: PodSpec, field: string): readonly ContainerAt[] {
  const { initContainers = [] } = spec;
  const containers = (spec.containers as Container[] | null) ?? [];
  return [
    ...initContainers.map((container, index) => at(container, 'initContainers', index)),
    ...containers.map((container, index) => at(container, 'containers', index)),
  ];

  function at(container: Container, list: string, index: number): ContainerAt {
    return { container, path: `${field}.${list}[${index}]` };
  }
}

function spreadWarnings({ topologySpreadConstraints = [] }: PodSpec, field: string): string[] {
  return topologySpreadConstraints.flatMap(({ labelSelector }, index) => {
    const path = `${field}.topologySpreadConstraints[${index}].labelSelector`;
    return labelSelector === undefined
      ? [`${path}: a null labelSelector results in matching no pod`]
      : [];
  });
}

function volumeWarnings({ volumes = [] }: PodSpec, field: string): string[] {
  const deprecated = volumes.flatMap((volume, index) =>
    Object.keys(volume).flatMap((member) => {
      const { [member]: said } = deprecatedVolumes;
      const shown = member === 'storageos' ? 'storageOS' : member;
      return said === undefined ? [] : [`${field}.volumes[${index}].${shown}: ${said}`];
    }),
  );
  const empty = volumes.flatMap(({ name, projected }) =>
    (projected?.sources ?? [])
      .filter((source) => Object.keys(source).length === 0)
      .map(() => `volume ${quoted(name)} (Projected) has no sources provided`),
  );
  return [...deprecated, ...empty];
}

function repeatedNames(spec: PodSpec, field: string): string[] {
  const { hostAliases = [], imagePullSecrets = [] } = spec;
  const ips = hostAliases.map(({ ip }) => ip);
  const names = imagePullSecrets.map(({ name = '' }) => name);
  return [
    ...repeated(ips).map(
      (index) => `${field}.hostAliases[${index}].ip: duplicate ip ${quoted(ips[index] ?? '')}`,
    ),
    ...repeated(names).map(
      (index) =>
        `${field}.imagePullSecrets[${index}].name: duplicate name ${quoted(names[index] ?? '')}`,
    ),
    ...names.flatMap((name, index) =>
      name === '' ? [`${field}.imagePullSecrets[${index}].name: invalid empty name ""`] : [],
    ),
  ];
}

/** Returns the indexes of values that also occur earlier. */
function repeated(values: readonly string[]): number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []));
}

function amountWarnings({ resources }: Container, path: string): string[] {
  const { limits, requests } = resources ?? {};
  const amounts = (['memory', 'ephemeral-storage'] as const).flatMap((name) =>
    Object.entries({ limits, requests }).map(([list, given]) => ({
      at: `${path}.resources.${list}[${name}]`,
      amount: given?.[name],
    })),
  );
  return amounts.flatMap(({ at, amount }) =>
    amount === undefined || !/[num]$/.test(canonicalQuantity(amount))
      ? []
      : [`${at}: fractional byte value "${amount}" is invalid, must be an integer`],
  );
}

/**
 * Returns a warning for each repeated variable, except one whose value refers to the variable of
 * that name before it.
 */
function envWarnings({ env = [] }: Container, path: string): string[] {
  const names = env.map(({ name }) => name);
  return repeated(names).flatMap((index) => {
    const { name = '', value = '', valueFrom } = env[index] ?? {};
    const reference = `$(${name})`;
    const uses = value.includes(reference) && value !== reference;
    if (valueFrom === undefined && uses) return [];
    const why = `hides previous definition of "${name}", which may be dropped when using apply`;
    return [`${path}.env[${index}]: ${why}`];
  });
}

interface PortAt {
  readonly port: Wire<V1ContainerPort>;
  readonly path: string;
}

function portWarnings(containers: readonly ContainerAt[]): string[] {
  const ports = containers.flatMap(({ container, path }) =>
    (container.ports ?? []).map((port, index) => ({ port, path: `${path}.ports[${index}]` })),
  );
  return [...ports.flatMap((one, index) => overlaps(one, ports.slice(0, index))), ...names(ports)];
}

function overlaps({ port, path }: PortAt, before: readonly PortAt[]): string[] {
  const { containerPort, protocol, hostIP = '', hostPort = 0 } = port;
  const same = before.filter(
    ({ port: other }) => other.containerPort === containerPort && other.protocol === protocol,
  );
  return same.flatMap(({ port: other, path: at }) => {
    const { hostIP: otherIp = '', hostPort: otherPort = 0 } = other;
    const definition = `port definition with ${at}`;
    if (hostIP === otherIp && hostPort === otherPort) return [`${path}: duplicate ${definition}`];
    if (hostPort === 0 || otherPort === 0) return [`${path}: overlapping ${definition}`];
    if (hostPort === otherPort && (hostIP === '') !== (otherIp === '')) {
      return [`${path}: dangerously ambiguous ${definition}`];
    }
    return [];
  });
}

function names(ports: readonly PortAt[]): string[] {
  const first = new Map<string, string>();
  return ports.flatMap(({ port: { name = '' }, path }) => {
    if (name === '') return [];
    const other = first.get(name);
    if (other === undefined) first.set(name, path);
    return other === undefined
      ? []
      : [
          `${path}: duplicate port name "${name}" with ${other}, services and probes that select ports by name will use ${other}`,
        ];
  });
}

function graceWarnings(
  { terminationGracePeriodSeconds: seconds = 0 }: PodSpec,
  field: string,
): string[] {
  if (seconds >= 0) return [];
  const why = 'must be >= 0; negative values are invalid and will be treated as 1';
  return [`${field}.terminationGracePeriodSeconds: ${why}`];
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
