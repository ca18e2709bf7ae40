import type {
  V1AppArmorProfile,
  V1PodSecurityContext,
  V1PodSpec,
  V1SeccompProfile,
  V1SecurityContext,
  V1Sysctl,
} from '@kubernetes/client-node';
import get from 'lodash/get.js';
import type { FieldErrors } from '../../crd/internal.js';
import { isJsonObject } from '../../object/index.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import { validateLocalPath } from './container-mounts.js';
import { largestInt32, validateRange } from './field-values.js';
import { validateWindowsOptions } from './windows-options.js';

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

/** Checks the security context of a pod, and its use of the host's namespaces. */
export function validatePodSecurity(spec: Wire<V1PodSpec>, errors: FieldErrors): void {
  const { securityContext: context } = spec;
  const path = 'securityContext';
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    const why = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.invalid(`${path}.shareProcessNamespace`, true, why);
  }
  if (spec.hostUsers === false) {
    // The real server begins two of the names with a capital letter.
    const fields = { hostNetwork: 'hostNetwork', hostPID: 'HostPID', hostIPC: 'HostIPC' } as const;
    for (const member of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
      if (spec[member] !== true) continue;
      errors.forbidden(fields[member], 'when `hostUsers` is false');
    }
  }
  if (context === undefined) return;
  validateIds(context, errors.at(path));
  validateChoices(context, errors.at(path));
  validateSysctls(context.sysctls ?? [], errors.at(`${path}.sysctls`));
  validateShared(context, errors.at(path));
}

function validateIds(context: Wire<V1PodSecurityContext>, errors: FieldErrors): void {
  for (const member of ['runAsUser', 'runAsGroup', 'fsGroup'] as const) {
    validateId(context[member], errors.at(member));
  }
  errors.each('supplementalGroups', context.supplementalGroups, validateId);
}

function validateId(id: number | undefined, errors: FieldErrors): void {
  if (id !== undefined) validateRange(id, [0, largestInt32], errors);
}

const podSpecs = [
  ['spec'],
  ['spec', 'template', 'spec'],
  ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
  ['template', 'spec'],
];
const allowsEachPolicy = new WeakSet<object>();

/** Allows every `seLinuxChangePolicy` in an update if the stored object has one, as the real server does. */
export function allowStoredPolicy(object: UnstructuredObject, old: UnstructuredObject): void {
  for (const path of podSpecs) {
    const [context, before] = [object, old].map((each) => {
      return get(each, [...path, 'securityContext']) as unknown;
    });
    // A custom resource may have any value as its `securityContext`.
    if (!isJsonObject(context) || !isJsonObject(before)) continue;
    if (before['seLinuxChangePolicy'] !== undefined) allowsEachPolicy.add(context);
  }
}

function validateChoices(context: Wire<V1PodSecurityContext>, errors: FieldErrors): void {
  const choices = {
    fsGroupChangePolicy: ['Always', 'OnRootMismatch'],
    supplementalGroupsPolicy: ['Merge', 'Strict'],
    // MountOption is behind a feature gate that is off.
    seLinuxChangePolicy: [...(allowsEachPolicy.has(context) ? ['MountOption'] : []), 'Recursive'],
  };
  for (const member of Object.keys(choices) as (keyof typeof choices)[]) {
    const { [member]: value } = context;
    const supported: readonly string[] = choices[member];
    errors.oneOf(member, value, supported);
  }
}

const sysctlForm = String.raw`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`;
const sysctlName = new RegExp(sysctlForm);

function validateSysctls(sysctls: readonly Wire<V1Sysctl>[], errors: FieldErrors): void {
  const names = new Set<string>();
  errors.each('', sysctls, ({ name }, errors) => {
    const path = 'name';
    if (name === '') errors.required(path);
    else if (name.length > 253 || !sysctlName.test(name)) {
      errors.invalid(path, name, `must have at most 253 characters and match regex ${sysctlForm}`);
    } else errors.unique(path, name, names);
  });
}

/** Checks the fields that the security contexts of pods and containers share, in the order of the real server. */
function validateShared(
  { seccompProfile, windowsOptions, appArmorProfile }: SharedContext,
  errors: FieldErrors,
): void {
  if (seccompProfile !== undefined) validateSeccomp(seccompProfile, errors.at('seccompProfile'));
  if (windowsOptions !== undefined) {
    validateWindowsOptions(windowsOptions, errors.at('windowsOptions'));
  }
  if (appArmorProfile !== undefined) {
    validateAppArmor(appArmorProfile, errors.at('appArmorProfile'));
  }
}

type SharedContext = Pick<
  Wire<V1SecurityContext>,
  'seccompProfile' | 'windowsOptions' | 'appArmorProfile'
>;

function validateSeccomp(profile: Wire<V1SeccompProfile>, errors: FieldErrors): void {
  const { type, localhostProfile } = profile;
  const path = 'localhostProfile';
  if (type === '') errors.required('type', 'type is required when seccompProfile is set');
  else errors.oneOf('type', type, profileTypes);
  if (type === 'Localhost') {
    if (localhostProfile === undefined) {
      errors.required(path, 'must be set when seccomp type is Localhost');
    } else validateLocalPath(localhostProfile, errors.at(path));
  } else if (localhostProfile !== undefined) {
    // The real server shows the whole profile.
    errors.invalid(path, profile, 'can only be set when seccomp type is Localhost');
  }
}

const profileNameLimit = 4095;

/** Checks a profile of AppArmor. Without a known type, the real server checks nothing else. */
function validateAppArmor(
  { type, localhostProfile }: Wire<V1AppArmorProfile>,
  errors: FieldErrors,
): void {
  const path = 'localhostProfile';
  if (type === '') {
    errors.required('type', 'type is required when appArmorProfile is set');
  } else if (!profileTypes.includes(type)) errors.oneOf('type', type, profileTypes);
  else if (type === 'Localhost') {
    const name = localhostProfile ?? '';
    if (name === '') errors.required(path, 'must be set when AppArmor type is Localhost');
    if (name !== name.trim()) errors.invalid(path, name, 'must not be padded with whitespace');
    if (Buffer.byteLength(name) > profileNameLimit) errors.tooLong(path, profileNameLimit);
  } else if (localhostProfile !== undefined) {
    errors.invalid(path, localhostProfile, 'can only be set when AppArmor type is Localhost');
  }
}

export function validateContainerSecurity(
  context: Wire<V1SecurityContext>,
  errors: FieldErrors,
): void {
  validateId(context.runAsUser, errors.at('runAsUser'));
  validateId(context.runAsGroup, errors.at('runAsGroup'));
  const { procMount, privileged, allowPrivilegeEscalation, capabilities } = context;
  errors.oneOf('procMount', procMount, ['Default', 'Unmasked']);
  validateShared(context, errors);
  if (allowPrivilegeEscalation !== false) return;
  const contradicts = (what: string): void =>
    errors.invalid('', context, `cannot set \`allowPrivilegeEscalation\` to false and ${what}`);
  if (privileged === true) contradicts('`privileged` to true');
  if (capabilities?.add?.includes('CAP_SYS_ADMIN') === true) {
    contradicts('`capabilities.Add` CAP_SYS_ADMIN');
  }
}
