import type { V1Service, V1ServicePort, V1ServiceSpec } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { validateCidr, validateEndpointIp, validateIp } from './addresses.js';
import type { FieldErrors } from './field-errors.js';
import { labelProblems, qualifiedNameProblems, subdomainProblems } from './names.js';
import { validatePort, validatePortNumber } from './numbers.js';
import { validateLabels } from './object-meta.js';

type Service = Wire<V1Service>;
type ServiceSpec = Wire<V1ServiceSpec>;

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const protocols = ['SCTP', 'TCP', 'UDP'];

/** Checks a Service. */
export function validateService({ spec }: Service, errors: FieldErrors): void {
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
  if (!['ClientIP', 'None'].includes(sessionAffinity)) {
    errors.notSupported('spec.sessionAffinity', sessionAffinity, ['ClientIP', 'None']);
  }
  if (type !== 'ExternalName') validateClusterIps(spec, errors);
  if (!types.includes(type)) errors.notSupported('spec.type', type, types);
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
  if (ports.length > 0 && clusterIP !== '') {
    errors.forbidden('spec.clusterIPs', 'may not be set for ExternalName services');
  }
  const host = externalName.replace(/\.$/, '');
  if (host === '') errors.required('spec.externalName');
  else
    for (const problem of subdomainProblems(host))
      errors.invalid('spec.externalName', host, problem);
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
    for (const problem of labelProblems(name)) errors.invalid(`${field}.name`, name, problem);
    if (names.has(name)) errors.duplicate(`${field}.name`, name);
    names.add(name);
  }
  for (const problem of port.appProtocol === undefined
    ? []
    : qualifiedNameProblems(port.appProtocol)) {
    errors.invalid(`${field}.appProtocol`, port.appProtocol, problem);
  }
  validatePortNumber(port.port, `${field}.port`, errors);
  if (!protocols.includes(protocol)) errors.notSupported(`${field}.protocol`, protocol, protocols);
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
    } else if (!['Cluster', 'Local'].includes(externalTrafficPolicy)) {
      errors.notSupported(field, externalTrafficPolicy, ['Cluster', 'Local']);
    }
  }
  if (
    internalTrafficPolicy !== undefined &&
    !['Cluster', 'Local'].includes(internalTrafficPolicy)
  ) {
    const supported = ['Cluster', 'Local'];
    errors.notSupported('spec.internalTrafficPolicy', internalTrafficPolicy, supported);
  }
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
  if (trafficDistribution !== undefined && !distributions.includes(trafficDistribution)) {
    errors.notSupported('spec.trafficDistribution', trafficDistribution, distributions);
  }
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (sessionAffinity !== 'ClientIP' || seconds === undefined) return;
  if (seconds > 0 && seconds <= daySeconds) return;
  const why = `must be greater than 0 and less than ${daySeconds}`;
  errors.invalid('spec.sessionAffinityConfig.clientIP.timeoutSeconds', seconds, why);
}

/** Checks the immutable fields of a Service: its addresses. */
export function validateServiceUpdate(
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
