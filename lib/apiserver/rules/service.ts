import type { V1Service, V1ServicePort, V1ServiceSpec } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import {
  withoutMembers,
  labelProblems,
  qualifiedNameProblems,
  subdomainProblems,
} from '../../object/index.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import {
  validateCidr,
  validateEndpointIp,
  validatePort,
  validatePortNumber,
} from './field-values.js';
import { typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import { validateLabels } from './metadata.js';
import { checkQuotas } from './quota.js';
import { allocateAddresses, needsHealthCheck, reallocateAddresses } from './service-addresses.js';
import { dropUnneeded, keepAddresses } from './service-updates.js';

type Service = Wire<V1Service>;
type ServiceSpec = Wire<V1ServiceSpec>;

const preferCloseWarning =
  'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"';

/** The rules of Services: they allocate addresses, and keep those that an update omits. */
export const serviceRules: KindRules = typedRules<Service>({
  defaults: defaultService,
  prepareForCreate: (service, server) => {
    const { clusterIP = '', clusterIPs = [] } = service.spec ?? {};
    if (service.spec !== undefined && clusterIP !== '' && clusterIPs.length === 0) {
      service.spec.clusterIPs = [clusterIP];
    }
    allocateAddresses(service, server);
  },
  prepareForUpdate: (service, old, server) => {
    if (service.spec === undefined || old.spec === undefined) return;
    keepAddresses(service.spec, old.spec);
    reallocateAddresses(service, old, server);
    dropUnneeded(service, old.spec);
  },
  validate: validateService,
  validateUpdate: validateServiceUpdate,
  admitUpdate: (service, old, server) => {
    checkQuotas('services', service, server, old);
  },
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
  createOnUpdate: true,
  nameFormat: 'label',
  answersDeleted: true,
  shown: withoutHidden,
});

const readServices = new WeakMap<UnstructuredObject, UnstructuredObject>();

/** Returns an ExternalName Service without `internalTrafficPolicy`. The field stays stored in case the type changes. */
function withoutHidden(object: UnstructuredObject & Service): UnstructuredObject {
  const { spec } = object;
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
  errors.each('spec.ports', ports, (port, errors) => {
    if ((port.name ?? '') === '' && ports.length > 1) errors.required('name');
    validateServicePort(port, names, errors);
  });
  validateLabels(spec.selector, errors.at('spec.selector'));
  const { sessionAffinity = '' } = spec;
  errors.oneOf('spec.sessionAffinity', sessionAffinity, ['ClientIP', 'None']);
  errors.oneOf('spec.type', type, types);
  validatePortsTogether(spec, errors);
  validatePolicies(spec, errors);
  validateLoadBalancer(spec, errors);
  validateReach(spec, errors);
}

function validateType(spec: ServiceSpec, errors: FieldErrors): void {
  const { type = '', clusterIP = '', externalName = '' } = spec;
  if (type === 'LoadBalancer' && clusterIP === 'None') {
    const why = "may not be set to 'None' for LoadBalancer services";
    errors.invalid('spec.clusterIPs[0]', 'None', why);
  }
  if (type === 'NodePort' && clusterIP === 'None') {
    errors.invalid('spec.clusterIPs[0]', 'None', "may not be set to 'None' for NodePort services");
  }
  if (type !== 'ExternalName') return;
  const notNamed = 'may not be set for ExternalName services';
  if ((spec.clusterIPs ?? []).length > 0) errors.forbidden('spec.clusterIPs', notNamed);
  if ((spec.ipFamilies ?? []).length > 0) errors.forbidden('spec.ipFamilies', notNamed);
  if (spec.ipFamilyPolicy !== undefined) errors.forbidden('spec.ipFamilyPolicy', notNamed);
  const host = externalName.replace(/\.$/, '');
  errors.requiredText('spec.externalName', host, subdomainProblems);
}

function validateServicePort(
  port: Wire<V1ServicePort>,
  names: Set<string>,
  errors: FieldErrors,
): void {
  const { name = '', protocol = '', targetPort = port.port } = port;
  if (name !== '') {
    errors.invalidEach('name', name, labelProblems(name));
    errors.unique('name', name, names);
  }
  errors.text('appProtocol', port.appProtocol, qualifiedNameProblems);
  validatePortNumber(port.port, errors.at('port'));
  errors.oneOf('protocol', protocol, protocols);
  validatePort(targetPort, errors.at('targetPort'));
}

function validatePortsTogether({ type, ports = [] }: ServiceSpec, errors: FieldErrors): void {
  const nodePorts = new Set<string>();
  const numbers = new Set<string>();
  errors.each('spec.ports', ports, ({ nodePort, protocol = '', port }, errors) => {
    if (nodePort !== undefined) {
      if (type === 'ClusterIP') {
        errors.forbidden('nodePort', "may not be used when `type` is 'ClusterIP'");
      }
      const key = `${protocol}/${nodePort}`;
      if (nodePorts.has(key) && type === 'ClusterIP') errors.duplicate('nodePort', nodePort);
      nodePorts.add(key);
    }
    const key = `${protocol}/${port}`;
    if (numbers.has(key)) errors.duplicate('', { port, protocol });
    numbers.add(key);
  });
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
  errors.each(field, ranges, (range, errors) => {
    validateCidr(range.trim(), errors);
  });
  if (healthCheckNodePort !== 0) {
    const member = 'spec.healthCheckNodePort';
    const why =
      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    if (needsHealthCheck(spec)) validatePortNumber(healthCheckNodePort, errors.at(member));
    else errors.invalid(member, healthCheckNodePort, why);
  }
  if (type === 'LoadBalancer') {
    const { loadBalancerClass: name } = spec;
    errors.text('spec.loadBalancerClass', name, qualifiedNameProblems);
    return;
  }
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
  errors.each('spec.externalIPs', externalIPs, validateEndpointIp);
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
  validateBalancerUpdate(spec, old, errors);
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

function validateBalancerUpdate(spec: ServiceSpec, old: ServiceSpec, errors: FieldErrors): void {
  const { type, healthCheckNodePort, loadBalancerClass } = spec;
  const isPortChanged = healthCheckNodePort !== old.healthCheckNodePort;
  if (needsHealthCheck(spec) && needsHealthCheck(old) && isPortChanged) {
    errors.forbidden('spec.healthCheckNodePort', 'field is immutable');
  }
  if (type !== 'LoadBalancer' || old.type !== type) return;
  if (loadBalancerClass !== old.loadBalancerClass) {
    errors.invalid('spec.loadBalancerClass', loadBalancerClass ?? null, 'may not change once set');
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
