import type {
  V1EndpointSlice,
  V1HTTPIngressPath,
  V1Ingress,
  V1IngressBackend,
  V1IngressClass,
  V1IngressRule,
  V1NetworkPolicy,
  V1NetworkPolicyPort,
} from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import type { FieldErrors } from '../validation/field-errors.js';
import { validateImmutable } from '../validation/immutable.js';
import { validateLabelSelector } from '../validation/label-selector.js';
import { labelProblems, portNameProblems, subdomainProblems } from '../validation/names.js';
import { validatePort, validatePortNumber } from '../validation/numbers.js';
import type { KindRules } from './kind-rules.js';
import { contentChanged, specChanged } from './spec-changed.js';
import { typedRules } from './typed-rules.js';

type Ingress = Wire<V1Ingress>;
type NetworkPolicy = Wire<V1NetworkPolicy>;

function validateIngress({ spec }: Ingress, errors: FieldErrors): void {
  const { rules = [], defaultBackend, ingressClassName, tls = [] } = spec ?? {};
  if (rules.length === 0 && defaultBackend === undefined) {
    const why = 'either `defaultBackend` or `rules` must be specified';
    errors.invalid('spec', undefined, why);
  }
  if (defaultBackend !== undefined) validateBackend(defaultBackend, 'spec.defaultBackend', errors);
  for (const [index, rule] of rules.entries()) {
    validateIngressRule(rule, `spec.rules[${index}]`, errors);
  }
  for (const [index, { hosts = [] }] of tls.entries()) {
    for (const [at, host] of hosts.entries()) {
      validateHost(host, `spec.tls[${index}].hosts[${at}]`, errors);
    }
  }
  for (const problem of ingressClassName === undefined ? [] : subdomainProblems(ingressClassName)) {
    errors.invalid('spec.ingressClassName', ingressClassName, problem);
  }
}

function validateIngressRule(
  { host = '', http }: Wire<V1IngressRule>,
  field: string,
  errors: FieldErrors,
): void {
  if (host !== '') validateHost(host, `${field}.host`, errors);
  if (http === undefined) return;
  const paths = (http.paths as Wire<V1HTTPIngressPath>[] | null) ?? [];
  if (paths.length === 0) errors.required(`${field}.http.paths`);
  for (const [index, path] of paths.entries()) {
    validatePath(path, `${field}.http.paths[${index}]`, errors);
  }
}

function validateHost(host: string, field: string, errors: FieldErrors): void {
  if (/^\d+(?:\.\d+){3}$/.test(host)) {
    errors.invalid(field, host, 'must be a DNS name, not an IP address');
    return;
  }
  const name = host.startsWith('*.') ? host.slice(2) : host;
  for (const problem of subdomainProblems(name)) errors.invalid(field, host, problem);
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];

function validatePath(
  { path = '', pathType, backend }: Wire<V1HTTPIngressPath>,
  field: string,
  errors: FieldErrors,
): void {
  // Decoded paths have null where the type is missing.
  const type = (pathType as string | null) ?? undefined;
  if (type === undefined) {
    errors.required(`${field}.pathType`, 'pathType must be specified');
    return;
  }
  if (!pathTypes.includes(type)) errors.notSupported(`${field}.pathType`, type, pathTypes);
  else if (!path.startsWith('/') && (path !== '' || type !== 'ImplementationSpecific')) {
    errors.invalid(`${field}.path`, path, 'must be an absolute path');
  }
  if (type === 'Exact' || type === 'Prefix') {
    for (const part of ['//', '/./', '/../', '%2f', '%2F']) {
      if (path.includes(part)) errors.invalid(`${field}.path`, path, `must not contain '${part}'`);
    }
  }
  validateBackend(backend, `${field}.backend`, errors);
}

function validateBackend(
  { resource, service }: Wire<V1IngressBackend>,
  field: string,
  errors: FieldErrors,
): void {
  if (resource !== undefined && service !== undefined) {
    errors.invalid(field, '', 'cannot set both resource and service backends');
    return;
  }
  if (service === undefined) {
    if (resource === undefined) {
      errors.invalid(field, '', 'resource or service backend is required');
    }
    return;
  }
  const { name, port: { name: portName = '', number = 0 } = {} } = service;
  if (name === '') errors.required(`${field}.service.name`);
  else {
    for (const problem of labelProblems(name))
      errors.invalid(`${field}.service.name`, name, problem);
  }
  if (portName !== '' && number !== 0) {
    errors.invalid(field, '', 'cannot set both port name & port number');
  } else if (portName !== '') {
    for (const problem of portNameProblems(portName)) {
      errors.invalid(`${field}.service.port.name`, portName, problem);
    }
  } else if (number !== 0) validatePortNumber(number, `${field}.service.port.number`, errors);
  else errors.required(field, 'port name or number is required');
}

function defaultNetworkPolicy({ spec }: NetworkPolicy): void {
  if (spec === undefined) return;
  for (const { ports } of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
    for (const port of ports ?? []) port.protocol ??= 'TCP';
  }
  if ((spec.policyTypes ?? []).length > 0) return;
  spec.policyTypes = (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
}

function validateNetworkPolicy({ spec }: NetworkPolicy, errors: FieldErrors): void {
  if (spec === undefined) return;
  validateLabelSelector(spec.podSelector, 'spec.podSelector', errors);
  const { ingress = [], egress = [], policyTypes = [] } = spec;
  for (const [index, { ports = [], from = [] }] of ingress.entries()) {
    validatePolicyPorts(ports, `spec.ingress[${index}].ports`, errors);
    for (const [at, peer] of from.entries()) {
      validatePeer(peer, `spec.ingress[${index}].from[${at}]`, errors);
    }
  }
  for (const [index, { ports = [], to = [] }] of egress.entries()) {
    validatePolicyPorts(ports, `spec.egress[${index}].ports`, errors);
    for (const [at, peer] of to.entries()) {
      validatePeer(peer, `spec.egress[${index}].to[${at}]`, errors);
    }
  }
  const types = ['Ingress', 'Egress'];
  for (const [index, type] of policyTypes.entries()) {
    if (!types.includes(type)) errors.notSupported(`spec.policyTypes[${index}]`, type, types);
  }
}

function validatePolicyPorts(
  ports: readonly Wire<V1NetworkPolicyPort>[],
  field: string,
  errors: FieldErrors,
): void {
  const protocols = ['TCP', 'UDP', 'SCTP'];
  for (const [index, { port, endPort, protocol = 'TCP' }] of ports.entries()) {
    const path = `${field}[${index}]`;
    if (!protocols.includes(protocol)) {
      errors.notSupported(`${path}.protocol`, protocol, protocols);
    }
    if (port !== undefined) validatePort(port, `${path}.port`, errors);
    if (endPort !== undefined && (typeof port !== 'number' || endPort < port)) {
      errors.invalid(`${path}.endPort`, endPort, 'must be greater than or equal to `port`');
    }
  }
}

function validatePeer(peer: object, field: string, errors: FieldErrors): void {
  const members = Object.keys(peer);
  if (members.length === 0) errors.required(field, 'must specify a peer');
  else if (members.includes('ipBlock') && members.length > 1) {
    errors.forbidden(field, 'may not specify both ipBlock and another peer');
  }
}

const endpointSlice = typedRules<Wire<V1EndpointSlice>>(
  {
    defaults: ({ ports }) => {
      for (const port of ports ?? []) {
        port.name ??= '';
        port.protocol ??= 'TCP';
      }
    },
    validate: ({ addressType }, errors) => {
      const types = ['FQDN', 'IPv4', 'IPv6'];
      if (addressType === '') errors.required('addressType');
      else if (!types.includes(addressType)) errors.notSupported('addressType', addressType, types);
    },
    validateUpdate: ({ addressType }, old, errors) => {
      const change = { field: 'addressType', value: addressType, old: old.addressType };
      validateImmutable(change, errors);
    },
  },
  { specChanged: contentChanged },
);

const ingressClass = typedRules<Wire<V1IngressClass>>(
  {
    defaults: ({ spec }) => {
      if (spec?.parameters !== undefined) spec.parameters.scope ??= 'Cluster';
    },
  },
  { specChanged },
);

/** The rules of networking and of discovery. */
export const networkingRules: Readonly<Record<string, KindRules>> = {
  'networking.k8s.io/v1/Ingress': typedRules<Ingress>(
    { validate: validateIngress },
    { specChanged },
  ),
  'networking.k8s.io/v1/IngressClass': ingressClass,
  'networking.k8s.io/v1/NetworkPolicy': typedRules<NetworkPolicy>(
    { defaults: defaultNetworkPolicy, validate: validateNetworkPolicy },
    { specChanged },
  ),
  'discovery.k8s.io/v1/EndpointSlice': endpointSlice,
};
