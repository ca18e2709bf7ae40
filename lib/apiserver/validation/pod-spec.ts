import type { V1PodSpec, V1PodTemplateSpec, V1Toleration } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { validateAffinity } from './affinity.js';
import { validateContainers, validateInitContainers } from './containers.js';
import type { FieldErrors } from './field-errors.js';
import { labelValueProblems, qualifiedNameProblems, subdomainProblems } from './names.js';
import { validateAnnotations, validateLabels } from './object-meta.js';
import { validatePodNetwork } from './pod-network.js';
import { validatePodSecurity } from './security-context.js';
import { validateTopologySpread } from './topology-spread.js';
import { validateVolumes } from './volumes.js';

type PodSpec = Wire<V1PodSpec>;

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

/** Checks a pod template, without the rules of its workload. */
export function validatePodTemplate(
  { metadata, spec }: Wire<V1PodTemplateSpec>,
  field: string,
  errors: FieldErrors,
): void {
  validateLabels(metadata?.labels, `${field}.labels`, errors);
  validateAnnotations(metadata?.annotations, `${field}.annotations`, errors);
  if (spec !== undefined) validatePodSpec(spec, `${field}.spec`, errors);
  if ((spec?.ephemeralContainers ?? []).length > 0) {
    const why = 'ephemeral containers not allowed in pod template';
    errors.forbidden(`${field}.spec.ephemeralContainers`, why);
  }
}

/** Checks the spec of a pod. */
export function validatePodSpec(spec: PodSpec, field: string, errors: FieldErrors): void {
  const hasAccount = (spec.serviceAccountName ?? '') !== '';
  const check = { hasAccount, errors };
  const names = {
    volumes: validateVolumes(spec.volumes ?? [], `${field}.volumes`, check),
    containers: new Set<string>(),
    noClaims: (spec.resourceClaims ?? []).length === 0,
    graceSeconds: spec.terminationGracePeriodSeconds ?? 30,
  };
  const containers = (spec.containers as PodSpec['containers'] | null) ?? [];
  validateContainers(containers, `${field}.containers`, { names, errors });
  validateInitContainers(spec.initContainers ?? [], `${field}.initContainers`, { names, errors });
  const { restartPolicy = '', dnsPolicy = '' } = spec;
  if (!restartPolicies.includes(restartPolicy)) {
    errors.notSupported(`${field}.restartPolicy`, restartPolicy, restartPolicies);
  }
  if (!dnsPolicies.includes(dnsPolicy)) {
    errors.notSupported(`${field}.dnsPolicy`, dnsPolicy, dnsPolicies);
  }
  validateLabels(spec.nodeSelector, `${field}.nodeSelector`, errors);
  validateNames(spec, field, errors);
  const { activeDeadlineSeconds } = spec;
  if (activeDeadlineSeconds !== undefined && activeDeadlineSeconds < 1) {
    const why = 'must be between 1 and 2147483647, inclusive';
    errors.invalid(`${field}.activeDeadlineSeconds`, activeDeadlineSeconds, why);
  }
  validateTolerations(spec.tolerations ?? [], `${field}.tolerations`, errors);
  validatePodNetwork(spec, field, errors);
  validatePodSecurity(spec, field, errors);
  validateScheduling(spec, field, errors);
  const { os } = spec;
  if (os !== undefined && !['linux', 'windows'].includes(os.name)) {
    errors.notSupported(`${field}.os`, os.name, ['linux', 'windows']);
  }
}

function validateScheduling(spec: PodSpec, field: string, errors: FieldErrors): void {
  const { affinity, topologySpreadConstraints = [], schedulingGates = [] } = spec;
  if (affinity !== undefined) validateAffinity(affinity, `${field}.affinity`, errors);
  const constraints = `${field}.topologySpreadConstraints`;
  validateTopologySpread(topologySpreadConstraints, constraints, errors);
  for (const [index, { conditionType }] of (spec.readinessGates ?? []).entries()) {
    for (const problem of qualifiedNameProblems(conditionType)) {
      errors.invalid(`${field}.readinessGates[${index}].conditionType`, conditionType, problem);
    }
  }
  const gates = new Set<string>();
  for (const [index, { name }] of schedulingGates.entries()) {
    const path = `${field}.schedulingGates[${index}]`;
    for (const problem of qualifiedNameProblems(name)) errors.invalid(path, name, problem);
    if (gates.has(name)) errors.duplicate(path, name);
    gates.add(name);
  }
}

function validateNames(spec: PodSpec, field: string, errors: FieldErrors): void {
  for (const member of ['serviceAccountName', 'nodeName', 'priorityClassName'] as const) {
    const { [member]: name = '' } = spec;
    for (const problem of name === '' ? [] : subdomainProblems(name)) {
      errors.invalid(`${field}.${member}`, name, problem);
    }
  }
}

function validateTolerations(
  tolerations: readonly Wire<V1Toleration>[],
  field: string,
  errors: FieldErrors,
): void {
  for (const [index, toleration] of tolerations.entries()) {
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
    const path = `${field}[${index}]`;
    for (const problem of key === '' ? [] : qualifiedNameProblems(key)) {
      errors.invalid(`${path}.key`, key, problem);
    }
    if (key === '' && operator !== 'Exists') {
      const why =
        'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.invalid(`${path}.operator`, operator, why);
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      const why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.invalid(`${path}.effect`, effect, why);
    }
    if (operator === 'Exists' && value !== '') {
      errors.invalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'");
    }
    for (const problem of operator === 'Exists' ? [] : labelValueProblems(value)) {
      errors.invalid(`${path}.operator`, value, problem);
    }
    if (!['', 'Equal', 'Exists'].includes(operator)) {
      errors.notSupported(`${path}.operator`, operator, ['Equal', 'Exists']);
    }
    if (!['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'].includes(effect)) {
      const supported = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
      errors.notSupported(`${path}.effect`, effect, supported);
    }
  }
}
