import type {
  V1Container,
  V1ContainerPort,
  V1LifecycleHandler,
  V1Probe,
  V1VolumeMount,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { labelProblems, portNameProblems } from '../../crd/internal.js';
import type { Wire } from '../../object/index.js';
import { validateResources } from './limits.js';
import { validateEnv, validateEnvFrom } from './container-environment.js';
import { validateNonnegative, validatePort, validatePortNumber } from './field-values.js';
import { validateContainerSecurity } from './security-context.js';

type Container = Wire<V1Container>;

/** The containers of a Pod that have images. */
interface Images {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
}

/** The data of a pod that checks of its containers need. */
interface PodNames {
  /** Names of the pod's valid volumes. */
  readonly volumes: ReadonlySet<string>;
  /** True if the pod has no resource claims. */
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
  else errors.invalidEach(`${path}.name`, name, labelProblems(name));
  if (image === '') errors.required(`${path}.image`);
  errors.oneOf(`${path}.terminationMessagePolicy`, terminationMessagePolicy, [
    'File',
    'FallbackToLogsOnError',
  ]);
  validateContainerPorts(container.ports ?? [], `${path}.ports`, errors);
  validateEnv(container.env ?? [], `${path}.env`, errors);
  validateEnvFrom(container.envFrom ?? [], `${path}.envFrom`, errors);
  validateMounts(container.volumeMounts ?? [], `${path}.volumeMounts`, { names, errors });
  errors.oneOf(`${path}.imagePullPolicy`, imagePullPolicy, pullPolicies);
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
    errors.oneOf(field, resourceName, ['cpu', 'memory']);
    errors.oneOf(field, restartPolicy, supported);
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
    errors.invalidEach(`${path}.name`, name, problems);
    if (name !== '' && problems.length === 0) {
      if (names.has(name)) errors.duplicate(`${path}.name`, name);
      names.add(name);
    }
    if (containerPort === 0) errors.required(`${path}.containerPort`);
    else validatePortNumber(containerPort, `${path}.containerPort`, errors);
    if (hostPort !== undefined) validatePortNumber(hostPort, `${path}.hostPort`, errors);
    errors.oneOf(`${path}.protocol`, protocol, protocols);
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
    errors.oneOf(`${field}.mountPropagation`, mountPropagation, propagations);
    if ((recursiveReadOnly ?? 'Disabled') !== 'Disabled' && readOnly !== true) {
      const why = 'may only be specified when readOnly is true';
      errors.forbidden(`${field}.recursiveReadOnly`, why);
    }
  }
}

const probeHandlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'] as const;
type ProbeHandler = (typeof probeHandlers)[number];
const headerName = /^[-A-Za-z0-9]+$/;
const headerMessage =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

const counts = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

/** Checks a probe: it has one handler and no negative numbers. */
function validateProbe(probe: Wire<V1Probe> | undefined, field: string, errors: FieldErrors): void {
  if (probe === undefined) return;
  const given = probeHandlers.filter((handler) => probe[handler] !== undefined);
  const [handler, ...extra] = given;
  if (handler === undefined) errors.required(field, 'must specify a handler type');
  else validateHandler(probe, `${field}.${handler}`, { handler, errors });
  for (const other of extra) {
    errors.forbidden(`${field}.${other}`, 'may not specify more than 1 handler type');
  }
  for (const count of counts) validateNonnegative(probe[count], `${field}.${count}`, errors);
  const { terminationGracePeriodSeconds: grace } = probe;
  if (grace !== undefined && grace <= 0) {
    errors.invalid(`${field}.terminationGracePeriodSeconds`, grace, 'must be greater than 0');
  }
}

/** Checks a handler of a probe or a lifecycle hook. */
function validateHandler(
  { exec, httpGet, tcpSocket, grpc }: Pick<Wire<V1Probe>, ProbeHandler>,
  field: string,
  { handler, errors }: { readonly handler: ProbeHandler; readonly errors: FieldErrors },
): void {
  switch (handler) {
    case 'exec':
      if ((exec?.command ?? []).length === 0) errors.required(`${field}.command`);
      break;
    case 'httpGet':
      validatePort(httpGet?.port ?? 0, `${field}.port`, errors);
      if (!['HTTP', 'HTTPS'].includes(httpGet?.scheme ?? '')) {
        errors.notSupported(`${field}.scheme`, httpGet?.scheme, ['HTTP', 'HTTPS']);
      }
      for (const { name } of httpGet?.httpHeaders ?? []) {
        if (!headerName.test(name)) errors.invalid(`${field}.httpHeaders`, name, headerMessage);
      }
      break;
    case 'tcpSocket':
      validatePort(tcpSocket?.port ?? 0, `${field}.port`, errors);
      break;
    case 'grpc':
      validatePortNumber(grpc?.port ?? 0, `${field}.port`, errors);
      break;
  }
}

const lifecycleHandlers = ['exec', 'httpGet', 'tcpSocket', 'sleep'] as const;

/**
 * Checks a handler that runs when a container starts or stops.
 * @param graceSeconds - grace period of its pod
 */
function validateLifecycleHandler(
  given: Wire<V1LifecycleHandler>,
  field: string,
  { graceSeconds, errors }: { readonly graceSeconds: number; readonly errors: FieldErrors },
): void {
  const [handler, ...extra] = lifecycleHandlers.filter((one) => given[one] !== undefined);
  if (handler === undefined) errors.required(field, 'must specify a handler type');
  else if (handler === 'sleep') {
    const seconds = given.sleep?.seconds ?? 0;
    if (seconds < 0 || seconds > graceSeconds) {
      const why = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
      errors.invalid(`${field}.sleep`, seconds, why);
    }
  } else validateHandler(given, `${field}.${handler}`, { handler, errors });
  for (const other of extra) {
    errors.forbidden(`${field}.${other}`, 'may not specify more than 1 handler type');
  }
}
