import type {
  V1Container,
  V1HTTPGetAction,
  V1HostAlias,
  V1Lifecycle,
  V1PodDNSConfig,
  V1PodSpec,
  V1PodTemplateSpec,
  V1Probe,
  V1Toleration,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import {
  labelProblems,
  labelValueProblems,
  qualifiedNameProblems,
  searchDomainProblems,
  subdomainProblems,
} from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { defaultVolume, validateVolumes } from './volumes.js';
import { defaultPodResources, validatePodResources } from './pod-resources.js';
import { validateAffinity, validateTopologySpread } from './pod-placement.js';
import {
  validateContainers,
  validateEphemeralContainers,
  validateInitContainers,
} from './containers.js';
import { validatePodSecurity } from './security-context.js';
import { largestInt32, validateIp, validatePreemption, validateRange } from './field-values.js';
import { validateAnnotations, validateLabels } from './metadata.js';
import { validateEnvFiles } from './container-environment.js';
import { claimNames, validatePodClaims } from './pod-claims.js';
import { validateSystem } from './pod-system.js';
import { validateHostProcesses } from './windows-options.js';

type PodSpec = Wire<V1PodSpec>;

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

/** Checks a pod template, without the rules of its workload. */
export function validatePodTemplate(
  { metadata, spec }: Wire<V1PodTemplateSpec>,
  errors: FieldErrors,
): void {
  validateLabels(metadata?.labels, errors.at('labels'));
  validateAnnotations(metadata?.annotations, errors.at('annotations'));
  if (spec !== undefined) validatePodSpec(spec, errors.at('spec'));
  if ((spec?.ephemeralContainers ?? []).length > 0) {
    const why = 'ephemeral containers not allowed in pod template';
    errors.forbidden('spec.ephemeralContainers', why);
  }
}

export function validatePodSpec(spec: PodSpec, errors: FieldErrors): void {
  const { resourceClaims = [] } = spec;
  const names = {
    volumes: validateVolumes(spec.volumes ?? [], errors.at('volumes')),
    containers: new Set<string>(),
    claims: claimNames(resourceClaims),
    graceSeconds: spec.terminationGracePeriodSeconds ?? 30,
    restartPolicy: spec.restartPolicy ?? '',
  };
  validatePodClaims(resourceClaims, errors.at('resourceClaims'));
  const containers = (spec.containers as PodSpec['containers'] | null) ?? [];
  validateContainers(containers, names, errors.at('containers'));
  validateInitContainers(spec.initContainers ?? [], names, errors.at('initContainers'));
  const { ephemeralContainers = [] } = spec;
  validateEphemeralContainers(ephemeralContainers, names, errors.at('ephemeralContainers'));
  const { restartPolicy = '', dnsPolicy = '' } = spec;
  errors.oneOf('restartPolicy', restartPolicy, restartPolicies);
  errors.oneOf('dnsPolicy', dnsPolicy, dnsPolicies);
  validateLabels(spec.nodeSelector, errors.at('nodeSelector'));
  validatePodResources(spec, names.claims, errors.at('resources'));
  errors.text('runtimeClassName', spec.runtimeClassName, subdomainProblems);
  validateNames(spec, errors);
  const { preemptionPolicy, activeDeadlineSeconds } = spec;
  if (preemptionPolicy !== undefined) {
    validatePreemption(preemptionPolicy, errors.at('preemptionPolicy'));
  }
  if (activeDeadlineSeconds !== undefined) {
    validateRange(activeDeadlineSeconds, [1, largestInt32], errors.at('activeDeadlineSeconds'));
  }
  validateTolerations(spec.tolerations ?? [], errors.at('tolerations'));
  validatePodNetwork(spec, errors);
  validatePodSecurity(spec, errors);
  const placed = placedContainers(spec);
  validateHostProcesses({ spec, containers: placed }, errors);
  validateScheduling(spec, errors);
  validateSystem({ spec, containers: placed }, errors);
  validateEnvFiles(spec.volumes ?? [], placed, errors);
}

function validateScheduling(spec: PodSpec, errors: FieldErrors): void {
  const { affinity, topologySpreadConstraints = [], schedulingGates = [] } = spec;
  if (affinity !== undefined) validateAffinity(affinity, errors.at('affinity'));
  validateTopologySpread(topologySpreadConstraints, errors.at('topologySpreadConstraints'));
  errors.each('readinessGates', spec.readinessGates, ({ conditionType }, errors) => {
    errors.text('conditionType', conditionType, qualifiedNameProblems);
  });
  const gates = new Set<string>();
  errors.each('schedulingGates', schedulingGates, ({ name }, errors) => {
    errors.invalidEach('', name, qualifiedNameProblems(name));
    errors.unique('', name, gates);
  });
}

function validateNames(spec: PodSpec, errors: FieldErrors): void {
  for (const member of ['serviceAccountName', 'nodeName', 'priorityClassName'] as const) {
    errors.optionalText(member, spec[member], subdomainProblems);
  }
}

/** Checks the taints that a pod, or the pods of a RuntimeClass, tolerate. */
export function validateTolerations(
  tolerations: readonly Wire<V1Toleration>[],
  errors: FieldErrors,
): void {
  errors.each('', tolerations, (toleration, errors) => {
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
    errors.optionalText('key', key, qualifiedNameProblems);
    if (key === '' && operator !== 'Exists') {
      const why =
        'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.invalid('operator', operator, why);
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      const why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.invalid('effect', effect, why);
    }
    if (operator === 'Exists' && value !== '') {
      errors.invalid('operator', value, "value must be empty when `operator` is 'Exists'");
    }
    if (operator !== 'Exists') errors.invalidEach('operator', value, labelValueProblems(value));
    if (!['', 'Equal', 'Exists'].includes(operator)) {
      errors.notSupported('operator', operator, ['Equal', 'Exists']);
    }
    if (!['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'].includes(effect)) {
      const supported = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
      errors.notSupported('effect', effect, supported);
    }
  });
}

/** Checks the names, DNS settings, host aliases and host ports of a pod. */
function validatePodNetwork(spec: PodSpec, errors: FieldErrors): void {
  const { dnsPolicy, dnsConfig, hostAliases = [] } = spec;
  for (const member of ['hostname', 'subdomain'] as const) {
    errors.optionalText(member, spec[member], labelProblems);
  }
  validateHostname(spec, errors.at('hostnameOverride'));
  validateDns(dnsConfig, dnsPolicy === 'None', errors.at('dnsConfig'));
  validateHostAliases(hostAliases, errors.at('hostAliases'));
  if (spec.hostNetwork === true) validateHostPorts(spec, errors);
}

const hostnameLimit = 64;

/** Checks the name that a pod has in place of its hostname. */
function validateHostname(spec: PodSpec, errors: FieldErrors): void {
  const { hostnameOverride: name, setHostnameAsFQDN, hostNetwork } = spec;
  if (name === undefined) return;
  for (const [member, value] of Object.entries({ setHostnameAsFQDN, hostNetwork })) {
    if (value === true) errors.forbidden('', `may not be specified when ${member} is true`);
  }
  if (Buffer.byteLength(name) > hostnameLimit) errors.tooLong('', hostnameLimit);
  errors.invalidEach('', name, subdomainProblems(name));
}

const serverLimit = 3;
const searchLimit = 32;
const searchLength = 2048;

function validateDns(
  config: Wire<V1PodDNSConfig> | undefined,
  none: boolean,
  errors: FieldErrors,
): void {
  const { nameservers = [], searches = [], options = [] } = config ?? {};
  if (none && config === undefined) {
    errors.required('', 'must provide `dnsConfig` when `dnsPolicy` is None');
  } else if (none && nameservers.length === 0) {
    const why = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
    errors.required('nameservers', why);
    return;
  }
  if (nameservers.length > serverLimit) {
    const why = `must not have more than ${serverLimit} nameservers`;
    errors.invalid('nameservers', nameservers, why);
  }
  errors.each('nameservers', nameservers, validateIp);
  validateSearches(searches, errors.at('searches'));
  errors.each('options', options, ({ name = '' }, errors) => {
    if (name === '') errors.required('', 'must not be empty');
  });
}

function validateSearches(searches: readonly string[], errors: FieldErrors): void {
  if (searches.length > searchLimit) {
    errors.invalid('', searches, `must not have more than ${searchLimit} search paths`);
  }
  if (searches.join(' ').length > searchLength) {
    const why = `must not have more than ${searchLength} characters (including spaces) in the search list`;
    errors.invalid('', searches, why);
  }
  errors.each('', searches, (search, errors) => {
    // A single dot is the root domain.
    if (search === '.') return;
    const domain = search.replace(/\.$/, '');
    errors.invalidEach('', domain, searchDomainProblems(domain));
  });
}

function validateHostAliases(aliases: readonly Wire<V1HostAlias>[], errors: FieldErrors): void {
  errors.each('', aliases, ({ ip, hostnames = [] }, errors) => {
    validateIp(ip, errors.at('ip'));
    errors.each('hostnames', hostnames, (name, errors) => {
      errors.text('', name, subdomainProblems);
    });
  });
}

function validateHostPorts(spec: PodSpec, errors: FieldErrors): void {
  const containers = (spec.containers as PodSpec['containers'] | null) ?? [];
  for (const [index, { ports = [] }] of containers.entries()) {
    errors.each(`containers[${index}].ports`, ports, ({ containerPort, hostPort }, errors) => {
      if (hostPort === undefined || hostPort === containerPort) return;
      errors.invalid('hostPort', hostPort, 'must match `containerPort` when `hostNetwork` is true');
    });
  }
}

type Container = Wire<V1Container>;

/** Fills in the defaults of a pod's spec, or of a pod template's, in place. */
export function defaultPodSpec(spec: PodSpec): void {
  mirrorServiceAccount(spec);
  spec.dnsPolicy ??= 'ClusterFirst';
  spec.restartPolicy ??= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ??= 'default-scheduler';
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  for (const container of allContainers(spec)) defaultContainer(container);
}

/** Sets `serviceAccountName` and its old name `serviceAccount` to the same value. Both are always present. */
function mirrorServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName ?? spec.serviceAccount;
  if (name === undefined) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

/** Returns the init, regular and ephemeral containers of a pod. */
export function allContainers(spec: PodSpec): readonly Container[] {
  return placedContainers(spec).map(([container]) => container);
}

const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** Returns the containers of a pod, each with its path in the spec. */
function placedContainers(spec: PodSpec): readonly (readonly [Container, string])[] {
  return lists.flatMap((list) => {
    // The decoder sets a missing list to null, as Go does.
    const containers = (spec[list] as readonly Container[] | null | undefined) ?? [];
    return containers.map((container, index) => [container, `${list}[${index}]`] as const);
  });
}

/** Fills in the defaults that only pods get, not templates: requests from limits, host ports, service links. */
export function defaultPodOnly(spec: PodSpec): void {
  const { initContainers = [] } = spec;
  const containers = (spec.containers as Container[] | null) ?? [];
  for (const container of [...containers, ...initContainers]) {
    const { resources } = container;
    if (resources?.limits !== undefined) {
      resources.requests = { ...resources.limits, ...resources.requests };
    }
    if (spec.hostNetwork === true) defaultHostPorts(container);
  }
  defaultPodResources(spec);
  spec.enableServiceLinks ??= true;
  // Older servers accepted negative values, and kubelets use 1 for them.
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1;
}

function defaultContainer(container: Container): void {
  container.imagePullPolicy ??=
    imageTag(container.image ?? '') === 'latest' ? 'Always' : 'IfNotPresent';
  container.terminationMessagePath ??= '/dev/termination-log';
  container.terminationMessagePolicy ??= 'File';
  for (const port of container.ports ?? []) port.protocol ??= 'TCP';
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef !== undefined) valueFrom.fieldRef.apiVersion ??= 'v1';
    if (valueFrom?.fileKeyRef !== undefined) valueFrom.fileKeyRef.optional ??= false;
  }
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    if (probe !== undefined) defaultProbe(probe);
  }
  if (container.lifecycle !== undefined) defaultLifecycle(container.lifecycle);
}

function defaultHostPorts(container: Container): void {
  for (const port of container.ports ?? []) {
    if (port.containerPort !== 0) port.hostPort ??= port.containerPort;
  }
}

function defaultProbe(probe: Wire<V1Probe>): void {
  probe.timeoutSeconds ??= 1;
  probe.periodSeconds ??= 10;
  probe.successThreshold ??= 1;
  probe.failureThreshold ??= 3;
  if (probe.httpGet !== undefined) defaultHttpGet(probe.httpGet);
  if (probe.grpc !== undefined) probe.grpc.service ??= '';
}

function defaultLifecycle({ postStart, preStop }: Wire<V1Lifecycle>): void {
  for (const handler of [postStart, preStop]) {
    if (handler?.httpGet !== undefined) defaultHttpGet(handler.httpGet);
  }
}

function defaultHttpGet(action: Wire<V1HTTPGetAction>): void {
  action.path ??= '/';
  action.scheme ??= 'HTTP';
}

const host = '(?:[a-zA-Z0-9-]+(?:\\.[a-zA-Z0-9-]+)*|\\[[0-9a-fA-F:]+\\])(?::[0-9]+)?';
const step = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const imageReference = new RegExp(
  `^(?:${host}/)?${step}(?:/${step})*(?::(?<tag>\\w[\\w.-]{0,127}))?(?<digest>@[\\w+.-]+:[0-9a-fA-F]{32,})?$`,
);

/** Returns the tag of an image: `latest` if it has no tag or digest, empty if it is invalid or has only a digest. */
export function imageTag(image: string): string {
  const { groups } = imageReference.exec(image) ?? {};
  if (groups === undefined) return '';
  return groups['tag'] ?? (groups['digest'] === undefined ? 'latest' : '');
}
