import type { V1Container, V1PodSpec } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import type { Wire } from '../../object/index.js';
import { hadEmptyMember } from '../go-json/go-types.js';

interface Pod {
  readonly spec: Wire<V1PodSpec>;
  /** All containers, each with its path. */
  readonly containers: readonly (readonly [Pick<Wire<V1Container>, 'securityContext'>, string])[];
}

/** Members of the security contexts of pods and of containers that pods on Windows cannot have. */
const onlyLinux = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'runAsUser', 'runAsGroup'],
];
const onlyLinuxPods = [
  ...[...onlyLinux, 'fsGroup', 'fsGroupChangePolicy', 'sysctls', 'supplementalGroups'],
  ...['supplementalGroupsPolicy', 'seLinuxChangePolicy'],
];
const onlyLinuxContainers = [
  ...[...onlyLinux, 'capabilities', 'readOnlyRootFilesystem', 'privileged'],
  ...['allowPrivilegeEscalation', 'procMount'],
];

/** Checks the operating system of a pod, and that the pod has no options of another system. */
export function validateSystem({ spec, containers }: Pod, errors: FieldErrors): void {
  if (spec.os === undefined) return;
  const { name } = spec.os;
  if (name === '') errors.required('os.name');
  else errors.oneOf('os', name, ['linux', 'windows']);
  if (name !== 'linux' && name !== 'windows') return;
  const isLinux = name === 'linux';
  const why = isLinux
    ? 'windows options cannot be set for a linux pod'
    : 'cannot be set for a windows pod';
  const refuse = (object: object | undefined, members: readonly string[], path: string): void => {
    for (const member of members) {
      if (isSet(object ?? {}, member)) errors.forbidden(`${path}.${member}`, why);
    }
  };
  const ofPod = isLinux ? ['windowsOptions'] : onlyLinuxPods;
  const ofContainer = isLinux ? ['windowsOptions'] : onlyLinuxContainers;
  if (!isLinux) refuseHost(spec, why, errors);
  refuse(spec.securityContext, ofPod, 'securityContext');
  for (const [{ securityContext }, path] of containers) {
    refuse(securityContext, ofContainer, `${path}.securityContext`);
  }
}

/** Refuses the options for Linux namespaces, such as `hostPID`, which pods on Windows cannot have. */
function refuseHost(spec: Wire<V1PodSpec>, why: string, errors: FieldErrors): void {
  const { hostUsers, hostPID, hostIPC, shareProcessNamespace } = spec;
  const given = {
    hostUsers: hostUsers !== undefined,
    hostPID: hostPID === true,
    hostIPC: hostIPC === true,
    shareProcessNamespace: shareProcessNamespace !== undefined,
  };
  for (const [member, isGiven] of Object.entries(given)) {
    if (isGiven) errors.forbidden(member, why);
  }
}

/** Returns whether a security context has a member. Of empty lists, only `supplementalGroups` counts as present. */
function isSet(object: object, member: string): boolean {
  const isEmptyList = member === 'supplementalGroups' && hadEmptyMember(object, member);
  return isEmptyList || Object.hasOwn(object, member);
}
