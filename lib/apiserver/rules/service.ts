import type { V1Service, V1ServicePort, V1ServiceSpec } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import {
  deepEqual,
  withoutMembers,
  labelProblems,
  qualifiedNameProblems,
  subdomainProblems,
} from '../../object/index.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import {
  validateCidr,
  validateEndpointIp,
  validateIp,
  validatePort,
  validatePortNumber,
} from './field-values.js';
import { typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import { validateLabels } from './metadata.js';
import { allocateAddresses, needsClusterIp, needsNodePort } from './service-addresses.js';

type Service = Wire<V1Service>;
type ServiceSpec = Wire<V1ServiceSpec>;

/** Keeps the addresses that an update omits. */
function keepAddresses(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIp(old) && needsClusterIp(spec)) {
    if ((spec.clusterIP ?? '') === '' && old.clusterIP !== undefined) {
      spec.clusterIP = old.clusterIP;
    }
    if ((spec.clusterIPs ?? []).length === 0 && spec.clusterIP === old.clusterIP) {
      if (old.clusterIPs !== undefined) spec.clusterIPs = [...old.clusterIPs];
    }
    if (spec.ipFamilies === undefined && old.ipFamilies !== undefined) {
      spec.ipFamilies = [...old.ipFamilies];
    }
    if (spec.ipFamilyPolicy === undefined && old.ipFamilyPolicy !== undefined) {
      spec.ipFamilyPolicy = old.ipFamilyPolicy;
    }
    // If only one of the two fields changed, the other follows.
    if (spec.clusterIP !== old.clusterIP && deepEqual(spec.clusterIPs, old.clusterIPs)) {
      spec.clusterIPs = [spec.clusterIP ?? ''];
    }
  }
  if (needsNodePort(old) && needsNodePort(spec)) keepNodePorts(spec, old);
}

function keepNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const before = new Map((old.ports ?? []).map(({ name = '', nodePort }) => [name, nodePort]));
  const used = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort));
  for (const port of spec.ports ?? []) {
    const kept = before.get(port.name ?? '');
    if (port.nodePort !== undefined || kept === undefined || used.has(kept)) continue;
    port.nodePort = kept;
    used.add(kept);
  }
  if (old.healthCheckNodePort !== undefined) spec.healthCheckNodePort ??= old.healthCheckNodePort;
}

/** Drops unchanged fields that only the old type needs. */
function dropUnneeded(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIp(old) && !needsClusterIp(spec)) {
    if (spec.clusterIP === old.clusterIP) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    if (deepEqual(spec.ipFamilies, old.ipFamilies)) delete spec.ipFamilies;
    if (spec.ipFamilyPolicy === old.ipFamilyPolicy) delete spec.ipFamilyPolicy;
  }
  if (needsNodePort(old) && !needsNodePort(spec)) {
    const portsOf = ({ ports = [] }: ServiceSpec): unknown => ports.map(({ nodePort }) => nodePort);
    if (deepEqual(portsOf(spec), portsOf(old))) {
      for (const port of spec.ports ?? []) delete port.nodePort;
    }
  }
  if (old.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    delete spec.allocateLoadBalancerNodePorts;
    delete spec.loadBalancerClass;
    delete spec.healthCheckNodePort;
  }
  const external = ({ type, externalIPs = [] }: ServiceSpec): boolean =>
    type === 'NodePort' || type === 'LoadBalancer' || externalIPs.length > 0;
  if (
    external(old) &&
    !external(spec) &&
    spec.externalTrafficPolicy === old.externalTrafficPolicy
  ) {
    delete spec.externalTrafficPolicy;
  }
}

const preferCloseWarning =
  'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"';

/** The rules of Services: they allocate addresses, and keep those that an update omits. */
export const serviceRules: KindRules = typedRules<Service>(
  {
    defaults: defaultService,
    prepareForCreate: (service, server) => allocateAddresses(service, server),
    prepareForUpdate: (service, { spec: old }, server) => {
      if (service.spec === undefined || old === undefined) return;
      keepAddresses(service.spec, old);
      dropUnneeded(service.spec, old);
      const changed = !deepEqual(service.spec.clusterIPs, old.clusterIPs);
      // Validation refuses a changed address, whether it is free or not.
      if (!changed || service.spec.clusterIPs === undefined || !needsClusterIp(old)) {
        allocateAddresses(service, server);
      }
    },
    validate: validateService,
    validateUpdate: validateServiceUpdate,
    warnings: ({ spec }) => [
      ...(spec?.clusterIP === 'None' ? ignoredWhenHeadless(spec) : []),
      ...((spec?.externalIPs ?? []).length > 0 ? externalIpWarnings(spec) : []),
      ...((spec?.externalName ?? '') !== '' && spec?.type !== 'ExternalName' ? [unnamed] : []),
      ...(spec?.trafficDistribution === 'PreferClose' ? [preferCloseWarning] : []),
    ],
    selectableFields: ({ spec }) => ({
      'spec.clusterIP': spec?.clusterIP ?? '',
      'spec.type': spec?.type ?? '',
    }),
  },
  { createOnUpdate: true, nameFormat: 'label', answersDeleted: true, shown: withoutHidden },
);

const readServices = new WeakMap<UnstructuredObject, UnstructuredObject>();

/** Returns a Service without the field that an ExternalName keeps for its next type. */
function withoutHidden(object: UnstructuredObject): UnstructuredObject {
  const { spec } = object as UnstructuredObject & Service;
  if (spec?.type !== 'ExternalName' || spec.internalTrafficPolicy === undefined) return object;
  const known = readServices.get(object);
  if (known !== undefined) return known;
  const rest = Object.freeze(withoutMembers(spec, 'internalTrafficPolicy'));
  const shown = Object.freeze({ ...object, spec: rest });
  readServices.set(object, shown);
  return shown;
}

/** Returns a warning for each field that a headless Service ignores. */
function ignoredWhenHeadless({
  loadBalancerIP,
  externalIPs,
  sessionAffinity,
}: ServiceSpec): string[] {
  const ignored = [
    ...((loadBalancerIP ?? '') === '' ? [] : ['loadBalancerIP']),
    ...((externalIPs ?? []).length === 0 ? [] : ['externalIPs']),
    ...((sessionAffinity ?? 'None') === 'None' ? [] : ['SessionAffinity']),
  ];
  return ignored.map((field) => `spec.${field} is ignored for headless services`);
}

function externalIpWarnings({ type, clusterIP }: ServiceSpec = {}): string[] {
  if (type === 'ExternalName') {
    return ['spec.externalIPs is ignored when spec.type is "ExternalName"'];
  }
  if (clusterIP === 'None') return [];
  return ['spec.externalIPs is deprecated and may no longer be implemented in some clusters'];
}

const unnamed = 'spec.externalName is ignored when spec.type is not "ExternalName"';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const protocols = ['SCTP', 'TCP', 'UDP'];

function validateService({ spec }: Service, errors: FieldErrors): void {
  if (spec === undefined) return;
  const { type = '', ports = [] } = spec;
  const headless = spec.clusterIP === 'None';
  if (ports.length === 0 && !headless && type !== 'ExternalName') errors.required('spec.ports');
  validateType(spec, errors);
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const settings = { requireName: ports.length > 1, names, errors };
    validateServicePort(port, `spec.ports[${index}]`, settings);
  }
  validateLabels(spec.selector, 'spec.selector', errors);
  const { sessionAffinity = '' } = spec;
  errors.oneOf('spec.sessionAffinity', sessionAffinity, ['ClientIP', 'None']);
  if (type !== 'ExternalName') validateClusterIps(spec, errors);
  errors.oneOf('spec.type', type, types);
  validatePortsTogether(spec, errors);
  validatePolicies(spec, errors);
  validateLoadBalancer(spec, errors);
  validateReach(spec, errors);
}

function validateType(spec: ServiceSpec, errors: FieldErrors): void {
  const { type = '', clusterIP = '', ports = [], externalName = '' } = spec;
  if (type === 'LoadBalancer' && clusterIP === 'None') {
    const why = "may not be set to 'None' for LoadBalancer services";
    errors.invalid('spec.clusterIPs[0]', 'None', why);
  }
  if (type === 'NodePort' && clusterIP === 'None') {
    const why = "may not be set to 'None' for NodePort services";
    errors.invalid('spec.clusterIPs[0]', 'None', why);
  }
  if (type !== 'ExternalName') return;
  const notNamed = 'may not be set for ExternalName services';
  if (ports.length > 0 && clusterIP !== '') errors.forbidden('spec.clusterIPs', notNamed);
  if ((spec.ipFamilies ?? []).length > 0) errors.forbidden('spec.ipFamilies', notNamed);
  if (spec.ipFamilyPolicy !== undefined) errors.forbidden('spec.ipFamilyPolicy', notNamed);
  const host = externalName.replace(/\.$/, '');
  if (host === '') errors.required('spec.externalName');
  else errors.invalidEach('spec.externalName', host, subdomainProblems(host));
}

function validateServicePort(
  port: Wire<V1ServicePort>,
  field: string,
  { requireName, names, errors }: { requireName: boolean; names: Set<string>; errors: FieldErrors },
): void {
  const { name = '', protocol = '', targetPort = port.port } = port;
  if (name === '') {
    if (requireName) errors.required(`${field}.name`);
  } else {
    errors.invalidEach(`${field}.name`, name, labelProblems(name));
    if (names.has(name)) errors.duplicate(`${field}.name`, name);
    names.add(name);
  }
  if (port.appProtocol !== undefined)
    errors.invalidEach(
      `${field}.appProtocol`,
      port.appProtocol,
      qualifiedNameProblems(port.appProtocol),
    );
  validatePortNumber(port.port, `${field}.port`, errors);
  errors.oneOf(`${field}.protocol`, protocol, protocols);
  validatePort(targetPort, `${field}.targetPort`, errors);
}

function validateClusterIps(spec: ServiceSpec, errors: FieldErrors): void {
  const { clusterIP = '', clusterIPs = [] } = spec;
  const field = 'spec.clusterIPs';
  if (clusterIP !== '' && clusterIPs[0] !== clusterIP) {
    errors.invalid(field, clusterIPs, 'first value must match `clusterIP`');
  }
  for (const [index, ip] of clusterIPs.entries()) {
    if (index === 0 && ip === 'None') {
      if (clusterIPs.length > 1) {
        errors.invalid(field, clusterIPs, "'None' must be the first and only value");
      }
    } else validateIp(ip, `${field}[${index}]`, errors);
  }
}

function validatePortsTogether({ type, ports = [] }: ServiceSpec, errors: FieldErrors): void {
  const nodePorts = new Set<string>();
  const numbers = new Set<string>();
  for (const [index, { nodePort, protocol = '', port }] of ports.entries()) {
    const field = `spec.ports[${index}]`;
    if (nodePort !== undefined) {
      if (type === 'ClusterIP') {
        errors.forbidden(`${field}.nodePort`, "may not be used when `type` is 'ClusterIP'");
      }
      const key = `${protocol}/${nodePort}`;
      if (nodePorts.has(key) && type === 'ClusterIP') {
        errors.duplicate(`${field}.nodePort`, nodePort);
      }
      nodePorts.add(key);
    }
    const key = `${protocol}/${port}`;
    if (numbers.has(key)) errors.duplicate(field, { port, protocol });
    numbers.add(key);
  }
}

function validatePolicies(spec: ServiceSpec, errors: FieldErrors): void {
  const { type, externalTrafficPolicy, internalTrafficPolicy, externalIPs = [] } = spec;
  const external = type === 'NodePort' || type === 'LoadBalancer' || externalIPs.length > 0;
  if (externalTrafficPolicy !== undefined) {
    const field = 'spec.externalTrafficPolicy';
    if (!external) {
      errors.invalid(
        field,
        externalTrafficPolicy,
        'may only be set for externally-accessible services',
      );
    } else errors.oneOf(field, externalTrafficPolicy, ['Cluster', 'Local']);
  }
  errors.oneOf('spec.internalTrafficPolicy', internalTrafficPolicy, ['Cluster', 'Local']);
}

function validateLoadBalancer(spec: ServiceSpec, errors: FieldErrors): void {
  const { type, loadBalancerSourceRanges: ranges = [], healthCheckNodePort = 0 } = spec;
  // The real server capitalizes this name.
  const field = 'spec.LoadBalancerSourceRanges';
  for (const [index, range] of ranges.entries()) {
    validateCidr(range.trim(), `${field}[${index}]`, errors);
  }
  const local = type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
  if (healthCheckNodePort !== 0 && !local) {
    const why =
      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.invalid('spec.healthCheckNodePort', healthCheckNodePort, why);
  }
  if (type === 'LoadBalancer') return;
  const why = "may only be used when `type` is 'LoadBalancer'";
  if (ranges.length > 0) errors.forbidden(field, why);
  for (const member of ['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const) {
    if (spec[member] !== undefined) errors.forbidden(`spec.${member}`, why);
  }
}

const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
const daySeconds = 86_400;

function validateReach(spec: ServiceSpec, errors: FieldErrors): void {
  const { externalIPs = [], trafficDistribution, sessionAffinity, sessionAffinityConfig } = spec;
  for (const [index, ip] of externalIPs.entries()) {
    validateEndpointIp(ip, `spec.externalIPs[${index}]`, errors);
  }
  errors.oneOf('spec.trafficDistribution', trafficDistribution, distributions);
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (sessionAffinity !== 'ClientIP' || seconds === undefined) return;
  if (seconds > 0 && seconds <= daySeconds) return;
  const why = `must be greater than 0 and less than ${daySeconds}`;
  errors.invalid('spec.sessionAffinityConfig.clientIP.timeoutSeconds', seconds, why);
}

/** Checks the immutable fields of a Service: its addresses. */
function validateServiceUpdate(
  { spec }: Service,
  { spec: old }: Service,
  errors: FieldErrors,
): void {
  if (spec === undefined || old === undefined) return;
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return;
  const [now, before] = [spec.clusterIPs ?? [], old.clusterIPs ?? []];
  if (now.length === 0 && before.length > 0) {
    errors.invalid('spec.clusterIPs[0]', now, 'primary clusterIP can not be unset');
  }
  for (const [index, ip] of before.entries()) {
    const { [index]: other } = now;
    if (other === undefined || other === ip) continue;
    errors.invalid(`spec.clusterIPs[${index}]`, now, 'may not change once set');
  }
}

/** Fills in the defaults of a Service, in place. Addresses are allocated later. */
function defaultService({ spec, status }: Wire<V1Service>): void {
  if (spec === undefined) return;
  spec.sessionAffinity ??= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP') {
    const timeoutSeconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 10_800;
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds } };
  }
  spec.type ??= 'ClusterIP';
  for (const port of spec.ports ?? []) {
    port.protocol ??= 'TCP';
    const { targetPort } = port;
    if (targetPort === undefined || targetPort === 0 || targetPort === '') {
      port.targetPort = port.port;
    }
  }
  const external =
    spec.type === 'NodePort' ||
    spec.type === 'LoadBalancer' ||
    (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);
  if (external) spec.externalTrafficPolicy ??= 'Cluster';
  if (spec.type !== 'ExternalName') spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type !== 'LoadBalancer') return;
  spec.allocateLoadBalancerNodePorts ??= true;
  for (const ingress of status?.loadBalancer?.ingress ?? []) {
    if ((ingress.ip ?? '') !== '') ingress.ipMode ??= 'VIP';
  }
}
