import type {
  V1Container,
  V1ContainerPort,
  V1EphemeralContainer,
  V1Volume,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { labelProblems, portNameProblems } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { hadEmptyMember } from '../go-json/go-types.js';
import { validateResources } from './resources.js';
import { validateEnv, validateEnvFrom } from './container-environment.js';
import { validateHandlers } from './container-handlers.js';
import { validateDevices, validateMounts } from './container-mounts.js';
import { validatePortNumber, validatePullPolicy } from './field-values.js';
import { validateContainerSecurity } from './security-context.js';

type Container = Wire<V1Container>;

/** The containers of a Pod that have images. */
interface Images {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
}

/** The data of a pod that checks of its containers need. */
interface PodNames {
  /** The pod's valid volumes by name. */
  readonly volumes: ReadonlyMap<string, Wire<V1Volume>>;
  /** The restart policy of the pod. */
  readonly restartPolicy: string;
  /** The names of the pod's claims. */
  readonly claims: ReadonlySet<string>;
  /** The grace period of the pod, in seconds. */
  readonly graceSeconds: number;
  /** Names of the containers so far. */
  readonly containers: Set<string>;
}

const protocols = ['SCTP', 'TCP', 'UDP'];

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
    validateHandlers(container, path, { graceSeconds: names.graceSeconds, errors });
    validateRestarts(container, path, errors);
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
    validateHostPorts([container], field, errors);
    validateInitRestarts(container, path, errors);
    if (container.restartPolicy === 'Always') {
      validateHandlers(container, path, { graceSeconds: names.graceSeconds, errors });
      continue;
    }
    for (const [at, { restartPolicy }] of (container.resizePolicy ?? []).entries()) {
      if (restartPolicy !== 'RestartContainer') continue;
      const why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
      errors.invalid(`${path}.resizePolicy[${at}].restartPolicy`, restartPolicy, why);
    }
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

const spacedImage = 'must not have leading or trailing whitespace';

/** Checks the images of a pod. Templates may have spaces around them. */
export function validateImages(spec: Images, field: string, errors: FieldErrors): void {
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [index, { image = '' }] of (spec[list] ?? []).entries()) {
      if (image === image.trim()) continue;
      errors.invalid(`${field}.${list}[${index}].image`, image, spacedImage);
    }
  }
}

function validateContainer(
  container: Container,
  path: string,
  { names, errors }: { names: PodNames; errors: FieldErrors },
): void {
  const { name, image = '', imagePullPolicy = '', terminationMessagePolicy = 'File' } = container;
  errors.requiredText(`${path}.name`, name, labelProblems);
  if (image === '') errors.required(`${path}.image`);
  errors.oneOf(`${path}.terminationMessagePolicy`, terminationMessagePolicy, [
    'File',
    'FallbackToLogsOnError',
  ]);
  validateContainerPorts(container.ports ?? [], `${path}.ports`, errors);
  validateEnv(container.env ?? [], `${path}.env`, errors);
  validateEnvFrom(container.envFrom ?? [], `${path}.envFrom`, errors);
  validateMounts(container, path, { volumes: names.volumes, errors });
  validatePullPolicy(imagePullPolicy, `${path}.imagePullPolicy`, errors);
  const { claims } = names;
  validateResources(container.resources, `${path}.resources`, { claims, errors });
  validateDevices(container, path, { volumes: names.volumes, errors });
  validateResizePolicy(container, `${path}.resizePolicy`, { names, errors });
  if (container.securityContext !== undefined) {
    validateContainerSecurity(container.securityContext, `${path}.securityContext`, errors);
  }
}

function validateResizePolicy(
  { resizePolicy = [] }: Container,
  field: string,
  { names, errors }: { names: PodNames; errors: FieldErrors },
): void {
  const supported = ['NotRequired', 'RestartContainer'];
  const seen = new Set<string>();
  for (const [index, { resourceName, restartPolicy }] of resizePolicy.entries()) {
    errors.unique(`${field}[${index}]`, resourceName, seen);
    errors.requiredOneOf(field, resourceName, ['cpu', 'memory']);
    errors.requiredOneOf(field, restartPolicy, supported);
    if (names.restartPolicy !== 'Never' || restartPolicy === 'NotRequired') continue;
    const why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
    errors.invalid(field, restartPolicy, why);
  }
}

const restartPolicies = ['Always', 'Never', 'OnFailure'];
const mostRules = 20;

/** Checks the restart policy of a container, and its rules. */
function validateRestarts(
  { restartPolicy, restartPolicyRules: rules = [] }: Container,
  path: string,
  errors: FieldErrors,
): void {
  const field = `${path}.restartPolicyRules`;
  if (restartPolicy !== undefined) {
    errors.oneOf(`${path}.restartPolicy`, restartPolicy, restartPolicies);
  } else if (rules.length > 0) errors.required(`${path}.restartPolicy`, policyForRules);
  if (rules.length > mostRules) errors.tooMany(field, rules.length, mostRules);
  for (const [index, { action = '', exitCodes }] of rules.entries()) {
    const at = `${field}[${index}]`;
    errors.oneOf(`${at}.action`, action, ['Restart', 'RestartAllContainers']);
    if (exitCodes === undefined) {
      errors.required(`${at}.exitCodes`, 'must be specified');
      continue;
    }
    const { values = [] } = exitCodes;
    const operator = (exitCodes.operator as string | undefined) ?? '';
    errors.oneOf(`${at}.exitCodes.operator`, operator, ['In', 'NotIn']);
    if (values.length > 255) errors.tooMany(`${at}.exitCodes.values`, values.length, 255);
  }
}

const policyForRules = 'must specify restartPolicy when restart rules are used';

/** Checks the restart policy of an init container. */
function validateInitRestarts(container: Container, path: string, errors: FieldErrors): void {
  if (container.restartPolicy !== undefined) validateRestarts(container, path, errors);
  else if ((container.restartPolicyRules ?? []).length > 0) {
    errors.required(`${path}.restartPolicy`, policyForRules);
  }
}

const onlyForOthers = [
  ...(['ports', 'resources', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const),
  ...(['lifecycle', 'resizePolicy', 'restartPolicy', 'restartPolicyRules'] as const),
] as const;

/** Checks the ephemeral containers of a pod. */
export function validateEphemeralContainers(
  containers: readonly Wire<V1EphemeralContainer>[],
  field: string,
  { names, errors }: { names: PodNames; errors: FieldErrors },
): void {
  const targets = new Set(names.containers);
  const why = 'cannot be set for an Ephemeral Container';
  for (const [index, container] of containers.entries()) {
    const path = `${field}[${index}]`;
    validateContainer(container, path, { names, errors });
    const { name, image = '', targetContainerName: target = '' } = container;
    if (image !== image.trim()) errors.invalid(`${path}.image`, image, spacedImage);
    if (names.containers.has(name)) errors.duplicate(`${path}.name`, name);
    names.containers.add(name);
    if (target !== '' && !targets.has(target)) {
      errors.notFound(`${path}.targetContainerName`, target);
    }
    for (const member of onlyForOthers) {
      if (isSet(container, member)) errors.forbidden(`${path}.${member}`, why);
    }
    for (const [at, mount] of (container.volumeMounts ?? []).entries()) {
      for (const member of ['subPath', 'subPathExpr'] as const) {
        if ((mount[member] ?? '') === '') continue;
        errors.forbidden(`${path}.volumeMounts[${at}].${member}`, why);
      }
    }
  }
}

/** Returns whether a field has a value other than the zero value of its Go type. */
function isSet(
  container: Wire<V1EphemeralContainer>,
  member: (typeof onlyForOthers)[number],
): boolean {
  const { [member]: value } = container;
  if (value === undefined) return hadEmptyMember(container, member);
  // In Go, resources are a struct without a pointer: they are set if a map or a list in them is, even an empty one.
  if (member !== 'resources' || Object.keys(value).length > 0) return true;
  return ['limits', 'requests', 'claims'].some((list) => hadEmptyMember(value as object, list));
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
      errors.unique(`${path}.name`, name, names);
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
      errors.unique(`${field}[${index}].ports[${at}].hostPort`, key, taken);
    }
  }
}
