import type {
  V1Container,
  V1ContainerPort,
  V1EnvFromSource,
  V1EnvVar,
  V1VolumeMount,
} from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import type { FieldErrors } from './field-errors.js';
import { configKeyProblems, labelProblems, portNameProblems, subdomainProblems } from './names.js';
import { validatePortNumber } from './numbers.js';
import { validateLifecycleHandler } from './lifecycle.js';
import { validateProbe } from './probes.js';
import { validateResources } from './resources.js';
import { validateContainerSecurity } from './security-context.js';

type Container = Wire<V1Container>;

/** The containers of a Pod that have images. */
interface Images {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
}

/** The data of a pod that checks of its containers need. */
export interface PodNames {
  /** Names of the pod's valid volumes. */
  readonly volumes: ReadonlySet<string>;
  /** If true, the pod has no resource claims. */
  readonly noClaims: boolean;
  /** The grace period of the pod, in seconds. */
  readonly graceSeconds: number;
  /** Names of the containers so far. */
  readonly containers: Set<string>;
}

const protocols = ['SCTP', 'TCP', 'UDP'];
const pullPolicies = ['Always', 'IfNotPresent', 'Never'];

/** Checks the containers of a pod. */
export function validateContainers(
  containers: readonly Container[],
  field: string,
  { names, errors }: { names: PodNames; errors: FieldErrors },
): void {
  if (containers.length === 0) {
    errors.required(field);
    return;
  }
  for (const [index, container] of containers.entries()) {
    const path = `${field}[${index}]`;
    validateContainer(container, path, { names, errors });
    if (names.containers.has(container.name)) errors.duplicate(`${path}.name`, container.name);
    names.containers.add(container.name);
    validateProbe(container.livenessProbe, `${path}.livenessProbe`, errors);
    validateSuccessThreshold(container.livenessProbe, `${path}.livenessProbe`, errors);
    validateReadiness(container.readinessProbe, `${path}.readinessProbe`, errors);
    validateProbe(container.startupProbe, `${path}.startupProbe`, errors);
    validateSuccessThreshold(container.startupProbe, `${path}.startupProbe`, errors);
  }
  validateHostPorts(containers, field, errors);
}

/** Checks the init containers of a pod. */
export function validateInitContainers(
  containers: readonly Container[],
  field: string,
  { names, errors }: { names: PodNames; errors: FieldErrors },
): void {
  for (const [index, container] of containers.entries()) {
    const path = `${field}[${index}]`;
    validateContainer(container, path, { names, errors });
    if (names.containers.has(container.name)) errors.duplicate(`${path}.name`, container.name);
    else if (container.name !== '') names.containers.add(container.name);
    if (container.restartPolicy === 'Always') continue;
    for (const member of [
      'lifecycle',
      'livenessProbe',
      'readinessProbe',
      'startupProbe',
    ] as const) {
      if (container[member] === undefined) continue;
      const why = 'may not be set for init containers without restartPolicy=Always';
      errors.forbidden(`${path}.${member}`, why);
    }
  }
}

/**
 * Checks a readiness probe. A failed one does not stop its container, so it must not have a grace
 * period.
 */
function validateReadiness(
  probe: Container['readinessProbe'],
  field: string,
  errors: FieldErrors,
): void {
  validateProbe(probe, field, errors);
  const { terminationGracePeriodSeconds: seconds } = probe ?? {};
  if (seconds === undefined) return;
  const why = 'must not be set for readinessProbes';
  errors.invalid(`${field}.terminationGracePeriodSeconds`, seconds, why);
}

function validateSuccessThreshold(
  probe: Container['livenessProbe'],
  field: string,
  errors: FieldErrors,
): void {
  const { successThreshold } = probe ?? {};
  if (successThreshold !== undefined && successThreshold !== 1) {
    errors.invalid(`${field}.successThreshold`, successThreshold, 'must be 1');
  }
}

/** Checks the images of a pod. Templates may have spaces around them. */
export function validateImages(spec: Images, field: string, errors: FieldErrors): void {
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [index, { image = '' }] of (spec[list] ?? []).entries()) {
      if (image === image.trim()) continue;
      const problem = 'must not have leading or trailing whitespace';
      errors.invalid(`${field}.${list}[${index}].image`, image, problem);
    }
  }
}

function validateContainer(
  container: Container,
  path: string,
  { names, errors }: { names: PodNames; errors: FieldErrors },
): void {
  const { name, image = '', imagePullPolicy = '', terminationMessagePolicy = 'File' } = container;
  if (name === '') errors.required(`${path}.name`);
  else for (const problem of labelProblems(name)) errors.invalid(`${path}.name`, name, problem);
  if (image === '') errors.required(`${path}.image`);
  if (!['File', 'FallbackToLogsOnError'].includes(terminationMessagePolicy)) {
    const supported = ['File', 'FallbackToLogsOnError'];
    errors.notSupported(`${path}.terminationMessagePolicy`, terminationMessagePolicy, supported);
  }
  validateContainerPorts(container.ports ?? [], `${path}.ports`, errors);
  validateEnv(container.env ?? [], `${path}.env`, errors);
  validateEnvFrom(container.envFrom ?? [], `${path}.envFrom`, errors);
  validateMounts(container.volumeMounts ?? [], `${path}.volumeMounts`, { names, errors });
  if (!pullPolicies.includes(imagePullPolicy)) {
    errors.notSupported(`${path}.imagePullPolicy`, imagePullPolicy, pullPolicies);
  }
  const { noClaims } = names;
  validateResources(container.resources, `${path}.resources`, { noClaims, errors });
  validateDevices(container, path, { names, errors });
  validateResizePolicy(container, `${path}.resizePolicy`, errors);
  if (container.securityContext !== undefined) {
    validateContainerSecurity(container.securityContext, `${path}.securityContext`, errors);
  }
  for (const member of ['postStart', 'preStop'] as const) {
    const handler = container.lifecycle?.[member];
    if (handler === undefined) continue;
    const { graceSeconds } = names;
    validateLifecycleHandler(handler, `${path}.lifecycle.${member}`, { graceSeconds, errors });
  }
}

function validateDevices(
  { volumeDevices = [] }: Container,
  path: string,
  { names, errors }: { names: PodNames; errors: FieldErrors },
): void {
  for (const [index, { name, devicePath }] of volumeDevices.entries()) {
    const field = `${path}.volumeDevices[${index}]`;
    if (name === '') errors.required(`${field}.name`);
    if (devicePath === '') errors.required(`${field}.devicePath`);
    if (!names.volumes.has(name)) errors.notFound(`${field}.name`, name);
  }
}

function validateResizePolicy(
  { resizePolicy = [] }: Container,
  field: string,
  errors: FieldErrors,
): void {
  const supported = ['NotRequired', 'RestartContainer'];
  const seen = new Set<string>();
  for (const [index, { resourceName, restartPolicy }] of resizePolicy.entries()) {
    if (seen.has(resourceName)) errors.duplicate(`${field}[${index}]`, resourceName);
    seen.add(resourceName);
    if (!['cpu', 'memory'].includes(resourceName)) {
      errors.notSupported(field, resourceName, ['cpu', 'memory']);
    }
    if (!supported.includes(restartPolicy)) errors.notSupported(field, restartPolicy, supported);
  }
}

function validateContainerPorts(
  ports: readonly Wire<V1ContainerPort>[],
  field: string,
  errors: FieldErrors,
): void {
  const names = new Set<string>();
  for (const [index, { name = '', containerPort, hostPort, protocol = '' }] of ports.entries()) {
    const path = `${field}[${index}]`;
    const problems = name === '' ? [] : portNameProblems(name);
    for (const problem of problems) errors.invalid(`${path}.name`, name, problem);
    if (name !== '' && problems.length === 0) {
      if (names.has(name)) errors.duplicate(`${path}.name`, name);
      names.add(name);
    }
    if (containerPort === 0) errors.required(`${path}.containerPort`);
    else validatePortNumber(containerPort, `${path}.containerPort`, errors);
    if (hostPort !== undefined) validatePortNumber(hostPort, `${path}.hostPort`, errors);
    if (!protocols.includes(protocol)) {
      errors.notSupported(`${path}.protocol`, protocol, protocols);
    }
  }
}

function validateHostPorts(
  containers: readonly Container[],
  field: string,
  errors: FieldErrors,
): void {
  const taken = new Set<string>();
  for (const [index, { ports = [] }] of containers.entries()) {
    for (const [at, { protocol = '', hostIP = '', hostPort }] of ports.entries()) {
      if (hostPort === undefined) continue;
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(key)) errors.duplicate(`${field}[${index}].ports[${at}].hostPort`, key);
      taken.add(key);
    }
  }
}

// Printable ASCII except `=`: the names of variables since Kubernetes 1.34.
const envName = /^[ -<>-~]+$/;

function validateEnv(env: readonly Wire<V1EnvVar>[], field: string, errors: FieldErrors): void {
  for (const [index, variable] of env.entries()) {
    const { name } = variable;
    const path = `${field}[${index}]`;
    if (name === '') errors.required(`${path}.name`);
    else if (!envName.test(name)) {
      const why =
        "a valid environment variable name must consist only of printable ASCII characters other than '='";
      errors.invalid(`${path}.name`, name, why);
    }
    validateValueFrom(variable, `${path}.valueFrom`, errors);
  }
}

function validateValueFrom(
  { value = '', valueFrom }: Wire<V1EnvVar>,
  field: string,
  errors: FieldErrors,
): void {
  if (valueFrom === undefined) return;
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  validateFieldRef(fieldRef?.fieldPath, `${field}.fieldRef.fieldPath`, errors);
  validateResourceRef(resourceFieldRef?.resource, `${field}.resourceFieldRef.resource`, errors);
  for (const [member, selector] of Object.entries({ configMapKeyRef, secretKeyRef })) {
    if (selector === undefined) continue;
    const { name = '', key } = selector;
    for (const problem of subdomainProblems(name)) {
      errors.invalid(`${field}.${member}.name`, name, problem);
    }
    if (key === '') errors.required(`${field}.${member}.key`);
    for (const problem of key === '' ? [] : configKeyProblems(key)) {
      errors.invalid(`${field}.${member}.key`, key, problem);
    }
  }
  const sources = Object.keys(valueFrom).length;
  if (sources === 0) {
    const why =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    errors.invalid(field, '', why);
  } else if (value !== '') {
    errors.invalid(field, '', 'may not be specified when `value` is not empty');
  } else if (sources > 1) {
    errors.invalid(field, '', 'may not have more than one field specified at a time');
  }
}

const fieldPaths: ReadonlySet<string> = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);

function validateFieldRef(path: string | undefined, field: string, errors: FieldErrors): void {
  if (path === undefined) return;
  if (path === '') {
    errors.required(field);
    return;
  }
  if (fieldPaths.has(path) || /^metadata\.(?:labels|annotations)\['.+'\]$/.test(path)) return;
  const why = `error converting fieldPath: field label not supported: ${path}`;
  errors.invalid(field, path, why);
}

const resourceNames = ['limits', 'requests'].flatMap((list) =>
  ['cpu', 'ephemeral-storage', 'memory'].map((name) => `${list}.${name}`),
);

function validateResourceRef(name: string | undefined, field: string, errors: FieldErrors): void {
  if (name === '') errors.required(field);
  else if (name !== undefined && !resourceNames.includes(name) && !/\.hugepages-./.test(name)) {
    errors.notSupported(field, name, resourceNames);
  }
}

function validateEnvFrom(
  sources: readonly Wire<V1EnvFromSource>[],
  field: string,
  errors: FieldErrors,
): void {
  for (const [index, { configMapRef, secretRef }] of sources.entries()) {
    const path = `${field}[${index}]`;
    for (const [member, reference] of Object.entries({ configMapRef, secretRef })) {
      if (reference === undefined) continue;
      const { name = '' } = reference;
      if (name === '') errors.required(`${path}.${member}.name`);
      else {
        for (const problem of subdomainProblems(name)) {
          errors.invalid(`${path}.${member}.name`, name, problem);
        }
      }
    }
    if (configMapRef === undefined && secretRef === undefined) {
      errors.invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`');
    } else if (configMapRef !== undefined && secretRef !== undefined) {
      errors.invalid(field, '', 'may not have more than one field specified at a time');
    }
  }
}

const propagations = ['Bidirectional', 'HostToContainer', 'None'];

function validateMounts(
  mounts: readonly Wire<V1VolumeMount>[],
  field: string,
  { names, errors }: { names: PodNames; errors: FieldErrors },
): void {
  const paths = new Set<string>();
  for (const [index, mount] of mounts.entries()) {
    const { name, mountPath, subPath = '', subPathExpr = '', readOnly } = mount;
    const { mountPropagation, recursiveReadOnly } = mount;
    const path = `${field}[${index}]`;
    if (name === '') errors.required(`${path}.name`);
    if (!names.volumes.has(name)) errors.notFound(`${path}.name`, name);
    if (mountPath === '') errors.required(`${path}.mountPath`);
    if (paths.has(mountPath)) errors.invalid(`${path}.mountPath`, mountPath, 'must be unique');
    paths.add(mountPath);
    if (subPath.startsWith('/')) {
      errors.invalid(`${field}.subPath`, subPath, 'must be a relative path');
    } else if (subPath.split('/').includes('..')) {
      errors.invalid(`${field}.subPath`, subPath, "must not contain '..'");
    }
    if (subPath !== '' && subPathExpr !== '') {
      const why = 'subPathExpr and subPath are mutually exclusive';
      errors.invalid(`${path}.subPathExpr`, subPathExpr, why);
    }
    if (mountPropagation !== undefined && !propagations.includes(mountPropagation)) {
      errors.notSupported(`${field}.mountPropagation`, mountPropagation, propagations);
    }
    if ((recursiveReadOnly ?? 'Disabled') !== 'Disabled' && readOnly !== true) {
      const why = 'may only be specified when readOnly is true';
      errors.forbidden(`${field}.recursiveReadOnly`, why);
    }
  }
}
