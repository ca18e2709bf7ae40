import type {
  V1AppArmorProfile,
  V1PodSecurityContext,
  V1PodSpec,
  V1SeccompProfile,
  V1SecurityContext,
  V1Sysctl,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import type { Wire } from '../../object/index.js';

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

/** Checks the security context of a pod, and its use of the host's namespaces. */
export function validatePodSecurity(
  spec: Wire<V1PodSpec>,
  field: string,
  errors: FieldErrors,
): void {
  const { securityContext: context, hostNetwork = false } = spec;
  const path = `${field}.securityContext`;
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    const why = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.invalid(`${path}.shareProcessNamespace`, true, why);
  }
  if (spec.hostUsers === false) {
    for (const member of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
      if (spec[member] !== true) continue;
      errors.forbidden(`${field}.${member}`, 'when `hostUsers` is false');
    }
  }
  if (context === undefined) return;
  validateIds(context, path, errors);
  validateChoices(context, path, errors);
  validateSysctls(context.sysctls ?? [], `${path}.sysctls`, errors);
  validateProfiles(context, path, errors);
  if (context.windowsOptions?.hostProcess === true && !hostNetwork) {
    const why = 'hostNetwork must be true if pod contains any hostProcess containers';
    errors.invalid(`${field}.hostNetwork`, false, why);
  }
}

function validateIds(
  context: Wire<V1PodSecurityContext>,
  field: string,
  errors: FieldErrors,
): void {
  for (const member of ['runAsUser', 'runAsGroup', 'fsGroup'] as const) {
    validateId(context[member], `${field}.${member}`, errors);
  }
  for (const [index, group] of (context.supplementalGroups ?? []).entries()) {
    validateId(group, `${field}.supplementalGroups[${index}]`, errors);
  }
}

function validateId(id: number | undefined, field: string, errors: FieldErrors): void {
  if (id === undefined || (id >= 0 && id <= 2_147_483_647)) return;
  errors.invalid(field, id, 'must be between 0 and 2147483647, inclusive');
}

function validateChoices(
  context: Wire<V1PodSecurityContext>,
  field: string,
  errors: FieldErrors,
): void {
  const choices = {
    fsGroupChangePolicy: ['Always', 'OnRootMismatch'],
    supplementalGroupsPolicy: ['Merge', 'Strict'],
  } as const;
  for (const member of ['fsGroupChangePolicy', 'supplementalGroupsPolicy'] as const) {
    const { [member]: value } = context;
    const supported: readonly string[] = choices[member];
    errors.oneOf(`${field}.${member}`, value, supported);
  }
}

const sysctlForm = String.raw`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`;
const sysctlName = new RegExp(sysctlForm);

function validateSysctls(
  sysctls: readonly Wire<V1Sysctl>[],
  field: string,
  errors: FieldErrors,
): void {
  const names = new Set<string>();
  for (const [index, { name }] of sysctls.entries()) {
    const path = `${field}[${index}].name`;
    if (name === '') errors.required(path);
    else if (name.length > 253 || !sysctlName.test(name)) {
      const why = `must have at most 253 characters and match regex ${sysctlForm}`;
      errors.invalid(path, name, why);
    } else if (names.has(name)) errors.duplicate(path, name);
    names.add(name);
  }
}

interface Profiles {
  readonly seccompProfile?: Wire<V1SeccompProfile>;
  readonly appArmorProfile?: Wire<V1AppArmorProfile>;
}

function validateProfiles(
  { seccompProfile, appArmorProfile }: Profiles,
  field: string,
  errors: FieldErrors,
): void {
  const given = [
    ['seccomp', 'seccompProfile', seccompProfile],
    ['AppArmor', 'appArmorProfile', appArmorProfile],
  ] as const;
  for (const [kind, member, profile] of given) {
    if (profile === undefined) continue;
    const { type, localhostProfile } = profile;
    const path = `${field}.${member}`;
    if (type === '') errors.required(`${path}.type`, `type is required when ${member} is set`);
    else errors.oneOf(`${path}.type`, type, profileTypes);
    if (type === 'Localhost' && (localhostProfile ?? '') === '') {
      errors.required(`${path}.localhostProfile`, `must be set when ${kind} type is Localhost`);
    } else if (type !== 'Localhost' && localhostProfile !== undefined) {
      const why = `can only be set when ${kind} type is Localhost`;
      // For seccomp, the real server shows the whole profile.
      const shown = member === 'seccompProfile' ? profile : localhostProfile;
      errors.invalid(`${path}.localhostProfile`, shown, why);
    }
  }
}

/** Checks the security context of a container. */
export function validateContainerSecurity(
  context: Wire<V1SecurityContext>,
  field: string,
  errors: FieldErrors,
): void {
  validateId(context.runAsUser, `${field}.runAsUser`, errors);
  validateId(context.runAsGroup, `${field}.runAsGroup`, errors);
  const { procMount, privileged, allowPrivilegeEscalation, capabilities } = context;
  errors.oneOf(`${field}.procMount`, procMount, ['Default', 'Unmasked']);
  validateProfiles(context, field, errors);
  if (allowPrivilegeEscalation !== false) return;
  const contradicts = (what: string): void =>
    errors.invalid(field, context, `cannot set \`allowPrivilegeEscalation\` to false and ${what}`);
  if (privileged === true) contradicts('`privileged` to true');
  if (capabilities?.add?.includes('CAP_SYS_ADMIN') === true) {
    contradicts('`capabilities.Add` CAP_SYS_ADMIN');
  }
}
