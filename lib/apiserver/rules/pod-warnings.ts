import type { V1Container, V1ContainerPort, V1PodSpec } from '@kubernetes/client-node';
import { canonicalQuantity, quoted } from '../../object/index.js';
import type { Wire } from '../../object/index.js';

type PodSpec = Wire<V1PodSpec>;
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
    ...affinityWarnings(spec, field),
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
  return selectorWarnings(topologySpreadConstraints, (index) => {
    return `${field}.topologySpreadConstraints[${index}]`;
  });
}

function affinityWarnings({ affinity = {} }: PodSpec, field: string): string[] {
  return (['podAffinity', 'podAntiAffinity'] as const).flatMap((member) => {
    const {
      requiredDuringSchedulingIgnoredDuringExecution: required = [],
      preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
    } = affinity[member] ?? {};
    const path = `${field}.affinity.${member}`;
    return [
      ...selectorWarnings(required, (index) => {
        return `${path}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`;
      }),
      ...selectorWarnings(
        preferred.map(({ podAffinityTerm }) => podAffinityTerm),
        (index) => {
          return `${path}.preferredDuringSchedulingIgnoredDuringExecution[${index}].podAffinityTerm`;
        },
      ),
    ];
  });
}

function selectorWarnings(
  terms: readonly { readonly labelSelector?: object }[],
  pathOf: (index: number) => string,
): string[] {
  return terms.flatMap(({ labelSelector }, index) => {
    if (labelSelector !== undefined) return [];
    return [`${pathOf(index)}.labelSelector: a null labelSelector results in matching no pod`];
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
 * Returns a warning for each variable that is set twice. A variable whose value refers to its earlier value, such
 * as `$(PATH):/bin`, has no warning.
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
