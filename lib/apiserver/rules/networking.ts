import type {
  V1HTTPIngressPath,
  V1IPBlock,
  V1Ingress,
  V1IngressBackend,
  V1IngressClass,
  V1IngressRule,
  V1NetworkPolicy,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import {
  domainPathProblems,
  labelProblems,
  portNameProblems,
  pathSegmentProblems,
  subdomainProblems,
  wildcardProblems,
} from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { endpointSliceRules, endpointsRules } from './endpoints.js';
import { isStrictSubset, validateCidr, validatePort, validatePortNumber } from './field-values.js';
import { specChanged, typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import { validateLabelSelector } from './metadata.js';

type Ingress = Wire<V1Ingress>;

function validateIngress({ spec }: Ingress, errors: FieldErrors): void {
  const { rules = [], defaultBackend, ingressClassName, tls = [] } = spec ?? {};
  if (rules.length === 0 && defaultBackend === undefined) {
    const why = 'either `defaultBackend` or `rules` must be specified';
    errors.invalid('spec', spec?.rules, why);
  }
  if (defaultBackend !== undefined) validateBackend(defaultBackend, 'spec.defaultBackend', errors);
  errors.each('spec.rules', rules, validateIngressRule);
  for (const [index, { hosts = [], secretName = '' }] of tls.entries()) {
    errors.each(`spec.tls[${index}].hosts`, hosts, validateName);
    if (secretName !== '')
      errors.text(`spec.tls[${index}].secretName`, secretName, subdomainProblems);
  }
  errors.text('spec.ingressClassName', ingressClassName, subdomainProblems);
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
  errors.each(`${field}.http.paths`, paths, validatePath);
}

function validateHost(host: string, field: string, errors: FieldErrors): void {
  if (/^\d+(?:\.\d+){3}$/.test(host)) {
    errors.invalid(field, host, 'must be a DNS name, not an IP address');
    return;
  }
  validateName(host, field, errors);
}

function validateName(host: string, field: string, errors: FieldErrors): void {
  const problems = host.includes('*') ? wildcardProblems(host) : subdomainProblems(host);
  errors.invalidEach(field, host, problems);
}

const classAnnotation = 'kubernetes.io/ingress.class';

/** Permits legacy class annotations, but not beside a different class. */
function validateClassAnnotation({ metadata, spec }: Ingress, errors: FieldErrors): void {
  const annotated = metadata?.annotations?.[classAnnotation];
  const { ingressClassName } = spec ?? {};
  if (annotated === undefined || ingressClassName === undefined) return;
  if (annotated === ingressClassName) return;
  const why = 'must match `ingressClassName` when both are specified';
  errors.invalid(`annotations.${classAnnotation}`, annotated, why);
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];

function validatePath(
  { path = '', pathType, backend }: Wire<V1HTTPIngressPath>,
  field: string,
  errors: FieldErrors,
): void {
  // Decoded paths have null if the type is missing.
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
  errors.requiredText(`${field}.service.name`, name, labelProblems);
  if (portName !== '' && number !== 0) {
    errors.invalid(field, '', 'cannot set both port name & port number');
  } else if (portName !== '') {
    errors.invalidEach(`${field}.service.port.name`, portName, portNameProblems(portName));
  } else if (number !== 0) validatePortNumber(number, `${field}.service.port.number`, errors);
  else errors.required(field, 'port name or number is required');
}

const controllerLimit = 250;

function validateIngressClass({ spec }: Wire<V1IngressClass>, errors: FieldErrors): void {
  const { controller = '', parameters } = spec ?? {};
  if (Buffer.byteLength(controller) > controllerLimit) {
    errors.tooLong('spec.controller', controllerLimit);
  }
  if (controller === '') errors.required('spec.controller');
  else {
    for (const { value, problem } of domainPathProblems(controller)) {
      errors.invalid('spec.controller', value, problem);
    }
  }
  if (parameters === undefined) return;
  const { kind, name, scope, namespace = '' } = parameters;
  const { apiGroup } = parameters;
  errors.text('spec.parameters.apiGroup', apiGroup, subdomainProblems);
  for (const [member, value] of Object.entries({ kind, name })) {
    const field = `spec.parameters.${member}`;
    errors.requiredText(field, value, pathSegmentProblems);
  }
  if (scope === 'Namespace' && namespace === '') {
    const why = "`parameters.scope` is set to 'Namespace'";
    errors.required('spec.parameters.namespace', why);
  } else if (scope === 'Cluster' && parameters.namespace !== undefined) {
    const why = "`parameters.scope` is set to 'Cluster'";
    errors.forbidden('spec.parameters.namespace', why);
  } else errors.oneOf('spec.parameters.scope', scope, ['Cluster', 'Namespace']);
}

const ingressClass = typedRules<Wire<V1IngressClass>>(
  {
    defaults: ({ spec }) => {
      if (spec?.parameters !== undefined) spec.parameters.scope ??= 'Cluster';
    },
    validate: validateIngressClass,
    validateUpdate: ({ spec }, old, errors) =>
      errors.immutable('spec.controller', spec?.controller ?? '', old.spec?.controller ?? ''),
  },
  { specChanged },
);

type NetworkPolicy = Wire<V1NetworkPolicy>;

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
    validatePorts(ports, `spec.ingress[${index}].ports`, errors);
    errors.each(`spec.ingress[${index}].from`, from, validatePeer);
  }
  for (const [index, { ports = [], to = [] }] of egress.entries()) {
    validatePorts(ports, `spec.egress[${index}].ports`, errors);
    errors.each(`spec.egress[${index}].to`, to, validatePeer);
  }
  const types = ['Ingress', 'Egress'];
  if (policyTypes.length > types.length) {
    errors.invalid('spec.policyTypes', policyTypes, 'may not specify more than two policyTypes');
    return;
  }
  for (const [index, type] of policyTypes.entries()) {
    errors.oneOf(`spec.policyTypes[${index}]`, type, types);
  }
}

function validatePorts(
  ports: readonly Wire<V1NetworkPolicyPort>[],
  field: string,
  errors: FieldErrors,
): void {
  const protocols = ['TCP', 'UDP', 'SCTP'];
  for (const [index, { port, endPort, protocol = 'TCP' }] of ports.entries()) {
    const path = `${field}[${index}]`;
    errors.oneOf(`${path}.protocol`, protocol, protocols);
    if (port !== undefined) validatePort(port, `${path}.port`, errors);
    if (endPort !== undefined) validateEndPort(endPort, port, { field: `${path}.endPort`, errors });
  }
}

function validateEndPort(
  endPort: number,
  port: number | string | undefined,
  { field, errors }: { readonly field: string; readonly errors: FieldErrors },
): void {
  if (port === undefined) {
    errors.invalid(field, endPort, 'may not be specified when `port` is not specified');
  } else if (typeof port === 'string') {
    errors.invalid(field, endPort, 'may not be specified when `port` is non-numeric');
  } else {
    // The real server shows the port here.
    if (endPort < port) errors.invalid(field, port, 'must be greater than or equal to `port`');
    validatePortNumber(endPort, field, errors);
  }
}

function validatePeer(peer: Wire<V1NetworkPolicyPeer>, field: string, errors: FieldErrors): void {
  const { ipBlock, podSelector, namespaceSelector } = peer;
  validateLabelSelector(podSelector, `${field}.podSelector`, errors);
  validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`, errors);
  if (ipBlock !== undefined) validateBlock(ipBlock, `${field}.ipBlock`, errors);
  const members = Object.keys(peer);
  if (members.length === 0) errors.required(field, 'must specify a peer');
  else if (ipBlock !== undefined && members.length > 1) {
    errors.forbidden(field, 'may not specify both ipBlock and another peer');
  }
}

function validateBlock(
  { cidr, except = [] }: Wire<V1IPBlock>,
  field: string,
  errors: FieldErrors,
): void {
  if (cidr === '') {
    errors.required(`${field}.cidr`);
    return;
  }
  if (!validateCidr(cidr, `${field}.cidr`, errors)) return;
  for (const [index, range] of except.entries()) {
    const path = `${field}.except[${index}]`;
    if (!validateCidr(range, path, errors)) continue;
    if (!isStrictSubset(range, cidr)) {
      errors.invalid(path, range, 'must be a strict subset of `cidr`');
    }
  }
}

const networkPolicyRules: KindRules = typedRules<NetworkPolicy>(
  { defaults: defaultNetworkPolicy, validate: validateNetworkPolicy },
  { specChanged, emptyListsCount: { member: 'spec', defaulted: ['policyTypes'] } },
);

/** The rules of networking and of discovery. */
export const networkingRules: Readonly<Record<string, KindRules>> = {
  'networking.k8s.io/v1/Ingress': typedRules<Ingress>(
    { validate: validateIngress, validateCreate: validateClassAnnotation },
    { specChanged },
  ),
  'networking.k8s.io/v1/IngressClass': ingressClass,
  'networking.k8s.io/v1/NetworkPolicy': networkPolicyRules,
  'discovery.k8s.io/v1/EndpointSlice': endpointSliceRules,
  '/v1/Endpoints': endpointsRules,
};
