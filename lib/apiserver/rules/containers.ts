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

export function validateContainers(
  containers: readonly Container[],
  names: PodNames,
  errors: FieldErrors,
): void {
  if (containers.length === 0) {
    errors.required('');
    return;
  }
  errors.each('', containers, (container, errors) => {
    validateContainer(container, names, errors);
    if (names.containers.has(container.name)) errors.duplicate('name', container.name);
    names.containers.add(container.name);
    validateHandlers(container, names.graceSeconds, errors);
    validateRestarts(container, errors);
  });
  validateHostPorts(containers, errors);
}

export function validateInitContainers(
  containers: readonly Container[],
  names: PodNames,
  errors: FieldErrors,
): void {
  for (const [index, container] of containers.entries()) {
    const path = `[${index}]`;
    validateContainer(container, names, errors.at(path));
    if (names.containers.has(container.name)) errors.duplicate(`${path}.name`, container.name);
    else if (container.name !== '') names.containers.add(container.name);
    validateHostPorts([container], errors);
    validateInitRestarts(container, errors.at(path));
    if (container.restartPolicy === 'Always') {
      validateHandlers(container, names.graceSeconds, errors.at(path));
      continue;
    }
    errors.each(`${path}.resizePolicy`, container.resizePolicy, ({ restartPolicy }, errors) => {
      if (restartPolicy !== 'RestartContainer') return;
      const why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
      errors.invalid('restartPolicy', restartPolicy, why);
    });
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

/** Checks the images of a pod. In templates, images may have spaces at both ends. */
export function validateImages(spec: Images, errors: FieldErrors): void {
  for (const list of ['containers', 'initContainers'] as const) {
    errors.each(list, spec[list], ({ image = '' }, errors) => {
      if (image === image.trim()) return;
      errors.invalid('image', image, spacedImage);
    });
  }
}

function validateContainer(container: Container, names: PodNames, errors: FieldErrors): void {
  const { name, image = '', imagePullPolicy = '', terminationMessagePolicy = 'File' } = container;
  errors.requiredText('name', name, labelProblems);
  if (image === '') errors.required('image');
  errors.oneOf('terminationMessagePolicy', terminationMessagePolicy, [
    'File',
    'FallbackToLogsOnError',
  ]);
  validateContainerPorts(container.ports ?? [], errors.at('ports'));
  validateEnv(container.env ?? [], errors.at('env'));
  validateEnvFrom(container.envFrom ?? [], errors.at('envFrom'));
  validateMounts(container, names.volumes, errors);
  validatePullPolicy(imagePullPolicy, errors.at('imagePullPolicy'));
  const { claims } = names;
  validateResources(container.resources, claims, errors.at('resources'));
  validateDevices(container, names.volumes, errors);
  validateResizePolicy(container, names, errors.at('resizePolicy'));
  if (container.securityContext !== undefined) {
    validateContainerSecurity(container.securityContext, errors.at('securityContext'));
  }
}

function validateResizePolicy(
  { resizePolicy = [] }: Container,
  names: PodNames,
  errors: FieldErrors,
): void {
  const supported = ['NotRequired', 'RestartContainer'];
  const seen = new Set<string>();
  for (const [index, { resourceName, restartPolicy }] of resizePolicy.entries()) {
    errors.unique(`[${index}]`, resourceName, seen);
    errors.requiredOneOf('', resourceName, ['cpu', 'memory']);
    errors.requiredOneOf('', restartPolicy, supported);
    if (names.restartPolicy !== 'Never' || restartPolicy === 'NotRequired') continue;
    errors.invalid('', restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
  }
}

const restartPolicies = ['Always', 'Never', 'OnFailure'];
const mostRules = 20;

function validateRestarts(
  { restartPolicy, restartPolicyRules: rules = [] }: Container,
  errors: FieldErrors,
): void {
  const field = 'restartPolicyRules';
  if (restartPolicy !== undefined) {
    errors.oneOf('restartPolicy', restartPolicy, restartPolicies);
  } else if (rules.length > 0) errors.required('restartPolicy', policyForRules);
  if (rules.length > mostRules) errors.tooMany(field, rules.length, mostRules);
  errors.each(field, rules, (rule, errors) => {
    const { exitCodes } = rule;
    const action = (rule.action as string | undefined) ?? '';
    errors.oneOf('action', action, ['Restart', 'RestartAllContainers']);
    if (exitCodes === undefined) {
      errors.required('exitCodes', 'must be specified');
      return;
    }
    const { values = [] } = exitCodes;
    const operator = (exitCodes.operator as string | undefined) ?? '';
    errors.oneOf('exitCodes.operator', operator, ['In', 'NotIn']);
    if (values.length > 255) errors.tooMany('exitCodes.values', values.length, 255);
  });
}

const policyForRules = 'must specify restartPolicy when restart rules are used';

function validateInitRestarts(container: Container, errors: FieldErrors): void {
  if (container.restartPolicy !== undefined) validateRestarts(container, errors);
  else if ((container.restartPolicyRules ?? []).length > 0) {
    errors.required('restartPolicy', policyForRules);
  }
}

const onlyForOthers = [
  ...(['ports', 'resources', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const),
  ...(['lifecycle', 'resizePolicy', 'restartPolicy', 'restartPolicyRules'] as const),
] as const;

export function validateEphemeralContainers(
  containers: readonly Wire<V1EphemeralContainer>[],
  names: PodNames,
  errors: FieldErrors,
): void {
  const targets = new Set(names.containers);
  const why = 'cannot be set for an Ephemeral Container';
  for (const [index, container] of containers.entries()) {
    const path = `[${index}]`;
    validateContainer(container, names, errors.at(path));
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
    errors.each(`${path}.volumeMounts`, container.volumeMounts, (mount, errors) => {
      for (const member of ['subPath', 'subPathExpr'] as const) {
        if ((mount[member] ?? '') === '') continue;
        errors.forbidden(member, why);
      }
    });
  }
}

/** Returns whether a field has a value other than the zero value of its Go type. */
function isSet(
  container: Wire<V1EphemeralContainer>,
  member: (typeof onlyForOthers)[number],
): boolean {
  const { [member]: value } = container;
  if (value === undefined) return hadEmptyMember(container, member);
  // In Go, `resources` is a struct without a pointer. It is set if one of its maps or lists is set, even an empty one.
  if (member !== 'resources' || Object.keys(value).length > 0) return true;
  return ['limits', 'requests', 'claims'].some((list) => hadEmptyMember(value as object, list));
}

function validateContainerPorts(
  ports: readonly Wire<V1ContainerPort>[],
  errors: FieldErrors,
): void {
  const names = new Set<string>();
  errors.each('', ports, ({ name = '', containerPort, hostPort, protocol = '' }, errors) => {
    const problems = name === '' ? [] : portNameProblems(name);
    errors.invalidEach('name', name, problems);
    if (name !== '' && problems.length === 0) errors.unique('name', name, names);
    if (containerPort === 0) errors.required('containerPort');
    else validatePortNumber(containerPort, errors.at('containerPort'));
    if (hostPort !== undefined) validatePortNumber(hostPort, errors.at('hostPort'));
    errors.oneOf('protocol', protocol, protocols);
  });
}

function validateHostPorts(containers: readonly Container[], errors: FieldErrors): void {
  const taken = new Set<string>();
  for (const [index, { ports = [] }] of containers.entries()) {
    errors.each(`[${index}].ports`, ports, ({ protocol = '', hostIP = '', hostPort }, errors) => {
      if (hostPort === undefined) return;
      errors.unique('hostPort', `${protocol}/${hostIP}/${hostPort}`, taken);
    });
  }
}
